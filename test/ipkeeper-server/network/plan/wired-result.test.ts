import t from 'tap'
import { wiredResult } from '../../../../ipkeeper-server/network/plan/wired-result.ts'
import { sampleConfig, sampleIps, sampleSurvey, sampleWiring, type JobParts } from './sample-job.ts'

const leased = { ips: sampleIps, routes: [{ dst: '192.0.2.0/24' }], dns: { nameservers: ['10.22.0.53'] } }
const pod = { ifname: 'net1', netns: '/some/../where' }

const result = ({ config, survey, wiring }: JobParts = {}) =>
  wiredResult(
    leased,
    { ...sampleWiring, ...wiring },
    { ...sampleConfig, ...config },
    { ...sampleSurvey, ...survey },
    pod,
  )

const ofBridge = { name: 'ipk0', mac: '0e:00:00:00:00:02' }
const ofHost = { name: 'ipk000000000001', mac: '0e:00:00:00:00:01', mtu: 1500 }
const ofPod = { name: 'net1', mac: '0a:58:0a:16:00:32', mtu: 1500, sandbox: '/some/../where' }

t.test('interfaces, and the addresses point to that of the pod', t => {
  for (const [what, parts, interfaces] of [
    ['a bridge that was made', {}, [ofBridge, ofHost, ofPod]],
    [
      'a bridge that was there',
      {
        survey: { bridge: { state: 'bridge', mac: '02:00:00:00:00:01', addresses: [], filtersVlans: false } },
      },
      [{ name: 'ipk0', mac: '02:00:00:00:00:01' }, ofHost, ofPod],
    ],
    ['ptp', { survey: { bridge: undefined } }, [ofHost, ofPod]],
    ['macvlan', { survey: { bridge: undefined }, wiring: { hostLink: null } }, [ofPod]],
    [
      'an MTU, and a MAC that the pod asked for',
      { survey: { bridge: undefined }, wiring: { hostLink: null, mtu: 1400, mac: '02:42:00:00:00:07' } },
      [{ ...ofPod, mtu: 1400, mac: '02:42:00:00:00:07' }],
    ],
  ] as const) {
    const made = result(parts)
    t.strictSame(made.interfaces, interfaces, what)
    const index = interfaces.length - 1
    t.strictSame(
      made.ips,
      sampleIps.map(ip => ({ ...ip, interface: index })),
      what,
    )
  }
  t.end()
})

t.test('routes are those that were made, not those of the leases', t => {
  t.strictSame(result().routes, sampleWiring.routes)
  t.end()
})

t.test('DNS of the network goes before that of ipam, as a whole', t => {
  t.strictSame(result().dns, { nameservers: ['10.22.0.53'] })
  t.strictSame(result({ config: { dns: { search: ['a.test'] } } }).dns, { search: ['a.test'] })
  t.end()
})

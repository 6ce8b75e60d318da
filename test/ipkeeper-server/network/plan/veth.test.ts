import t from 'tap'
import {
  addressCommands,
  createVeth,
  firstMac,
  routeCommands,
  upCommand,
  vethOfPod,
} from '../../../../ipkeeper-server/network/plan/veth.ts'
import { sampleConfig, sampleJob, sampleSurvey, sampleWiring, spellCommands } from './sample-job.ts'

t.test('both sides in one step, with MAC, MTU and namespace from the start', t => {
  const job = sampleJob({ wiring: { mtu: 1400 } })
  t.strictSame(spellCommands([createVeth(job)]), [
    'link add name ipk000000000001 address 0e:00:00:00:00:01 mtu 1400 type veth ' +
      'peer name eth0 address 0a:58:0a:16:00:32 mtu 1400 netns /proc/self/fd/3',
  ])
  t.equal(createVeth(job).existing, undefined, 'a name that is taken is an error')
  t.end()
})

t.test('the first MAC is another one where others are asked for the address', t => {
  for (const [duplicateProbe, foreignPorts, mac] of [
    [false, [], '0a:58:0a:16:00:32'],
    [false, ['tap0'], '0a:58:0a:16:00:32'],
    [true, [], '0e:00:00:00:00:03'],
    ['among-others', [], '0a:58:0a:16:00:32'],
    ['among-others', ['tap0'], '0e:00:00:00:00:03'],
  ] as const) {
    const survey = { ...sampleSurvey, foreignPorts }
    t.equal(firstMac({ ...sampleConfig, duplicateProbe }, survey, sampleWiring), mac)
    t.match(spellCommands([createVeth(sampleJob({ config: { duplicateProbe }, survey }))]), [
      `peer name eth0 address ${mac} `,
    ])
  }
  t.end()
})

t.test("the pod's side", t => {
  const addresses = [
    'pod: address add 10.22.0.50/16 dev eth0',
    'pod: address add fd00:22::50/64 dev eth0 nodad',
  ]
  t.strictSame(spellCommands(addressCommands(sampleJob())), addresses)
  t.strictSame(
    spellCommands(addressCommands(sampleJob(), ['noprefixroute'])),
    addresses.map(line => `${line} noprefixroute`),
  )
  t.strictSame(spellCommands([upCommand(sampleJob())]), ['pod: link set dev eth0 up'])
  const routes = [
    'pod: route add 0.0.0.0/0 via 10.22.0.1 dev eth0',
    'pod: route add ::/0 via fd00:22::1 dev eth0',
  ]
  t.strictSame(spellCommands(routeCommands(sampleJob())), routes)
  const { link, addresses: given, routes: added } = vethOfPod(sampleJob())
  t.strictSame([link, given, added].map(spellCommands), [['pod: link set dev eth0 up'], addresses, routes])
  t.end()
})

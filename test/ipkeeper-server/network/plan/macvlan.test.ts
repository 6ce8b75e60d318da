import t from 'tap'
import {
  macvlanCommands,
  ownMacvlan,
  type PodLink,
} from '../../../../ipkeeper-server/network/plan/macvlan.ts'
import { jobOf, typedWiring } from './example-job.ts'

t.test('a link within the pod, marked before it is up', t => {
  const job = jobOf({ mode: 'macvlan', uplink: 'eth1', macvlanMode: 'private' })
  t.same(typedWiring(macvlanCommands(job)), [
    'host: ip link add link eth1 name eth0 netns /proc/self/fd/3 address 0e:00:00:00:00:03 mtu 1500 type macvlan mode private',
    'pod: ip link set dev eth0 alias ipkeeper net c1 eth0',
    'pod: ip link set dev eth0 up',
    'pod: ip address add 10.22.0.50/16 dev eth0',
    'pod: ip address add fd00:22::50/64 dev eth0 nodad',
    'pod: ip route add 0.0.0.0/0 via 10.22.0.1 dev eth0',
  ])
  t.end()
})

const alias = 'ipkeeper net c1 eth0'
const mac = '0a:58:0a:16:00:32'
const link = (more: Partial<PodLink>): PodLink => ({
  ...{ index: 2, name: 'eth0', mac, alias: '', up: false, addresses: [] },
  ...more,
})

t.test('which link of a pod is ours', t => {
  const wired = { ifname: 'eth0', macs: [mac, '0e:00:00:00:00:03'] }
  const cases: readonly (readonly [what: string, link: PodLink, byRecord: boolean, byAlias: boolean])[] = [
    ['marked and in use', link({ alias, up: true, addresses: ['10.22.0.50/16'] }), true, true],
    ['marked, of another name and MAC', link({ alias, name: 'net1', mac: '02:00:00:00:00:01' }), true, true],
    ['just made', link({}), true, false],
    ['just made, and not probed yet', link({ mac: '0e:00:00:00:00:03' }), true, false],
    ['unmarked and up', link({ up: true }), false, false],
    ['unmarked with an address', link({ addresses: ['10.22.0.50/16'] }), false, false],
    ['unmarked, of another name', link({ name: 'net1' }), false, false],
    ['unmarked, of another MAC', link({ mac: '02:00:00:00:00:01' }), false, false],
    ['marked as of another container', link({ alias: 'ipkeeper net c2 eth0' }), false, false],
    ["somebody else's", link({ alias: 'cni0' }), false, false],
  ]
  for (const [what, found, byRecord, byAlias] of cases) {
    const other = link({ name: 'net9', mac: '02:00:00:00:00:09', up: true })
    t.equal(ownMacvlan([other, found], alias, wired), byRecord ? found : undefined, what)
    t.equal(ownMacvlan([other, found], alias, undefined), byAlias ? found : undefined, `${what}, no record`)
  }
  t.end()
})

import t from 'tap'
import {
  macvlanCommands,
  ownMacvlan,
  type PodLink,
} from '../../../../ipkeeper-server/network/plan/macvlan.ts'
import { jobOf, plainSurvey, typedWiring } from './example-job.ts'

t.test('a link within the pod, marked before it is up', t => {
  const job = jobOf({ mode: 'macvlan', uplink: 'eth1', macvlanMode: 'private' })
  t.same(typedWiring(macvlanCommands(job)), [
    'host: ip link add link eth1 name ipk0123456789ab netns /proc/self/fd/3 address 0e:00:00:00:00:03 mtu 1500 type macvlan mode private',
    'pod: ip link set dev ipk0123456789ab alias ipkeeper net c1 eth0',
    'pod: ip link set dev ipk0123456789ab name eth0',
    'pod: ip link set dev eth0 up',
    'pod: ip address add 10.22.0.50/16 dev eth0',
    'pod: ip address add fd00:22::50/64 dev eth0 nodad',
    'pod: ip route add 0.0.0.0/0 via 10.22.0.1 dev eth0',
  ])
  t.end()
})

const { names } = plainSurvey
const { alias, hostLink } = names
const link = (more: Partial<PodLink>): PodLink => ({
  ...{ index: 2, name: 'eth0', mac: '0a:58:0a:16:00:32', alias: '', up: false, addresses: [] },
  ...more,
})

t.test('which link of a pod is ours', t => {
  const cases: readonly (readonly [what: string, link: PodLink, isOurs: boolean])[] = [
    ['marked and in use', link({ alias, up: true, addresses: ['10.22.0.50/16'] }), true],
    ['marked, of another name and MAC', link({ alias, name: 'net1', mac: '02:00:00:00:00:01' }), true],
    ['marked, under its first name', link({ alias, name: hostLink }), true],
    ['just made', link({ name: hostLink }), true],
    ['just made, by a run that gave another MAC', link({ name: hostLink, mac: '02:00:00:00:00:01' }), true],
    ['unmarked and up', link({ name: hostLink, up: true }), false],
    ['unmarked with an address', link({ name: hostLink, addresses: ['10.22.0.50/16'] }), false],
    ['unmarked, of the name of the interface', link({}), false],
    ['marked as of another container', link({ alias: 'ipkeeper net c2 eth0' }), false],
    ['the same, under our name', link({ name: hostLink, alias: 'ipkeeper net c2 eth0' }), false],
    ["somebody else's", link({ alias: 'cni0' }), false],
  ]
  for (const [what, found, isOurs] of cases) {
    const other = link({ name: 'net9', mac: '02:00:00:00:00:09', up: true })
    t.equal(ownMacvlan([other, found], names), isOurs ? found : undefined, what)
  }
  const made = link({ name: hostLink })
  const marked = link({ alias })
  t.equal(ownMacvlan([made, marked], names), marked, 'the mark goes before the name')
  t.end()
})

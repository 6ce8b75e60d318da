import t from 'tap'
import { linkNames } from '../../../ipkeeper-server/network/link-names.ts'
import { strayLinks, type VethSeen } from '../../../ipkeeper-server/reconcile/plan-stray-links.ts'

const names = linkNames({ network: 'fixed', containerId: 'c1', ifname: 'eth0' })
const made: VethSeen = { index: 7, name: names.hostLink, alias: names.alias, carrier: false }

const cases: readonly (readonly [what: string, link: Partial<VethSeen>, isStray: boolean])[] = [
  ['as an ADD makes it', {}, true],
  ['before it has its alias', { alias: '' }, true],
  ['of another network and container', { name: 'ipk0123456789ab', alias: 'ipkeeper net c2 net1' }, true],
  ['a pod uses it', { carrier: true }, false],
  ['a record names it', { name: 'ipkaaaaaaaaaaaa' }, false],
  ["somebody else's alias", { alias: 'cni0 of c1' }, false],
  ['an alias that only begins alike', { alias: 'ipkeepers' }, false],
  ["ours is within somebody else's", { alias: 'once ipkeeper net c1 eth0' }, false],
  ['another prefix', { name: 'veth0123456789' }, false],
  ['too short', { name: 'ipk0123456789a' }, false],
  ['too long', { name: 'ipk0123456789abc' }, false],
  ['not hexadecimal', { name: 'ipk0123456789ag' }, false],
  ['capitals', { name: 'ipk0123456789AB' }, false],
  ['a bridge of that prefix', { name: 'ipk0', alias: '' }, false],
  ['a line more', { name: 'ipk0123456789ab\n' }, false],
]

t.test('which links are strays', t => {
  const named = new Set(['ipkaaaaaaaaaaaa', 'ipkbbbbbbbbbbbb'])
  for (const [what, more, isStray] of cases) {
    const link = { ...made, ...more }
    t.strictSame(strayLinks([link], named), isStray ? [link] : [], what)
  }
  t.strictSame(strayLinks([made, { ...made, index: 8, name: 'eth0' }], new Set()), [made])
  t.strictSame(strayLinks([made], new Set([made.name])), [])
  t.end()
})

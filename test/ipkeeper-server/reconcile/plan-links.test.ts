import t from 'tap'
import { suspectLinks, strayLinks, type VethSeen } from '../../../ipkeeper-server/reconcile/plan-links.ts'
import type { NodeSnapshot, SeenVeth } from '../../../ipkeeper-server/reconcile/plan-snapshot.ts'
import { link, runtime, snapshot } from './snapshot-words.ts'
import { linkNames } from '../../../ipkeeper-server/network/link-names.ts'

const own = 'ipk000000000001'
const up = { carrier: true }

/** What is suspected: kind, by what certainty, and what would be done. */
const table: readonly (readonly [
  what: string,
  link: SeenVeth,
  seen: Partial<NodeSnapshot> & { readonly patterns?: readonly string[] },
  suspected: string | undefined,
])[] = [
  ['ours, that an attachment has', link(own), { namedLinks: new Set([own]) }, undefined],
  ['ours, that nobody has, down', link(own), {}, 'link-without-lease proof remove-link'],
  ['ours, without alias: not finished', link(own, { alias: '' }), {}, 'link-without-lease proof remove-link'],
  ['ours, up', link(own, up), {}, 'link-without-lease absence none'],
  [
    'ours, up, the runtime lists others',
    link(own, up),
    { runtimes: [runtime('/s', ['b'])] },
    'link-without-lease absence none',
  ],
  [
    'ours, up, the runtime fails',
    link(own, up),
    { runtimes: [runtime('/s', 'failed')] },
    'link-without-lease absence none',
  ],
  [
    'ours, of a container that runs',
    link(own),
    { runtimes: [runtime('/s', ['c1'])] },
    'link-without-lease proof none',
  ],
  [
    'ours, of a container that does not run',
    link(own),
    { runtimes: [runtime('/s', ['c1!'])] },
    'link-without-lease proof remove-link',
  ],
  ['ours, though a pattern names all', link(own, up), { patterns: ['*'] }, 'link-without-lease absence none'],
  ['our name with an alias of others', link(own, { alias: 'mine' }), {}, 'foreign-link absence none'],
  [
    'nearly our name',
    link('ipk00000000000g', { alias: 'ipkeeper net c1 eth0' }),
    {},
    'foreign-link absence none',
  ],
  ['foreign, down', link('cali1'), {}, 'foreign-link absence none'],
  ['foreign, up', link('cali1', up), {}, undefined],
  [
    'foreign, down, named',
    link('cali1'),
    { patterns: ['veth*', 'cali*'] },
    'foreign-link absence remove-link',
  ],
  ['foreign, up, named', link('cali1', up), { patterns: ['cali*'] }, undefined],
  ['foreign, down, not quite named', link('xcali1'), { patterns: ['cali*'] }, 'foreign-link absence none'],
]

for (const [what, seen, { patterns = [], ...more }, suspected] of table) {
  t.test(what, t => {
    const found = suspectLinks(snapshot({ links: { state: 'asked', found: [seen] }, ...more }), patterns)
    t.same(
      found.map(({ kind, certainty, action }) => `${kind} ${certainty.by} ${action.kind}`),
      suspected === undefined ? [] : [suspected],
    )
    t.end()
  })
}

t.test('links that could not be looked for', t => {
  for (const links of [{ state: 'absent' }, { state: 'failed', reason: 'no' }, { state: 'later' }] as const)
    t.same(suspectLinks(snapshot({ links }), ['*']), [])
  t.end()
})

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

import t from 'tap'
import type { HistoryEntry } from '../../../ipkeeper-server/ipam/records/history-entry.ts'
import { ChainCheck, linked, type ChainReport } from '../../../ipkeeper-server/store/history-chain.ts'

const holder = { kind: 'pod', network: 'net', namespace: 'shop', name: 'web-0', ifname: 'eth0' } as const

/** Five entries, linked. */
function chain(): HistoryEntry[] {
  const entries: HistoryEntry[] = []
  for (let id = 1; id <= 5; id++)
    entries.push(
      linked(
        {
          ...{ id, at: id * 10, since: 10, event: id % 2 === 1 ? 'bound' : 'held', segment: 'default' },
          ...{ address: '10.0.0.2', pool: 'net', holder, podUid: null, node: 'n1', source: 'dynamic' },
          ...{ containerId: id % 2 === 1 ? 'c1' : null, until: null },
        },
        entries.at(-1),
      ),
    )
  return entries
}

function check(entries: readonly HistoryEntry[]): ChainReport {
  const reader = new ChainCheck()
  for (const entry of entries) reader.add(entry)
  return reader.report()
}

const faultsOf = (entries: readonly HistoryEntry[]): string[] =>
  check(entries).faults.map(({ kind, from, to }) => `${kind} ${from}-${to}`)

const without = (...ids: readonly number[]): HistoryEntry[] => chain().filter(({ id }) => !ids.includes(id))
const patched = (id: number, patch: Partial<HistoryEntry>): HistoryEntry[] =>
  chain().map(entry => (entry.id === id ? { ...entry, ...patch } : entry))
const linkAt = (id: number): string => chain()[id - 1]?.link ?? ''

const cases: readonly (readonly [
  what: string,
  entries: readonly HistoryEntry[],
  faults: readonly string[],
])[] = [
  ['as it was written', chain(), []],
  ['nothing', [], []],
  [
    'keys in another order',
    chain().map(entry => Object.fromEntries(Object.entries(entry).reverse()) as never),
    [],
  ],
  ['another holder', patched(3, { holder: { ...holder, name: 'db-0' } }), ['changed 3-3']],
  ['another time', patched(1, { at: 11 }), ['changed 1-1']],
  ['of the newest one', patched(5, { node: 'n2' }), ['changed 5-5']],
  [
    'another link, and so the next one no longer follows',
    patched(2, { link: linkAt(3) }),
    ['changed 2-2', 'changed 3-3'],
  ],
  ['one taken out', without(3), ['missing 3-3']],
  ['two taken out', without(2, 3), ['missing 2-3']],
  ['the first ones taken out', without(1, 2), ['missing 1-2']],
  ['pruned', patched(3, { follows: linkAt(2) }).filter(({ id }) => id > 2), []],
  [
    'pruned but for an older one that still counts',
    patched(3, { follows: linkAt(2) }).filter(({ id }) => id !== 2),
    [],
  ],
  [
    'pruned, and one taken out of what was to stay',
    patched(3, { follows: linkAt(2) }).filter(({ id }) => id !== 2 && id !== 4),
    ['missing 4-4'],
  ],
  [
    'pruned, and changed behind it',
    patched(3, { follows: linkAt(2), node: 'n2' }).filter(({ id }) => id > 2),
    ['changed 3-3'],
  ],
  ['versions without links before', patched(1, { link: undefined }).slice(0, 1), []],
]
for (const [what, entries, faults] of cases) {
  t.test(what, t => {
    t.strictSame(faultsOf(entries), faults)
    t.end()
  })
}

t.test('what is known besides faults', t => {
  t.match(check(chain()), { entries: 5, unlinked: 0, pruned: false, begins: [{ id: 1, at: 10 }] })
  t.strictSame(check(chain()).last, { id: 5, at: 50, link: linkAt(5) })
  t.match(check(patched(3, { follows: linkAt(2) }).slice(2)), { entries: 3, pruned: true, begins: [] })
  const [first, second] = chain()
  const old = { ...first!, link: undefined }
  t.match(check([old, linked(second!, old)]), { unlinked: 1, begins: [{ id: 2 }], faults: [] })
  t.end()
})

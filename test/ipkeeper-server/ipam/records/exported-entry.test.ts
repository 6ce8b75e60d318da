import t from 'tap'
import { exportedEntries } from '../../../../ipkeeper-server/ipam/records/exported-entry.ts'
import type { HistoryEntry } from '../../../../ipkeeper-server/ipam/records/history-entry.ts'

const entry = (id: number, link: string | undefined, follows?: string): HistoryEntry => ({
  ...{ id, at: id, since: 1, event: 'bound', segment: 'default', address: '10.0.0.2', pool: 'net' },
  holder: { kind: 'container', network: 'net', containerId: 'c1', ifname: 'eth0' },
  ...{ podUid: null, node: 'n2', source: 'dynamic', containerId: 'c1', until: null },
  ...{ ...(link !== undefined && { link }), ...(follows !== undefined && { follows }) },
})

type Before = Parameters<typeof exportedEntries>[1]
type Told = readonly [id: number, previous: string | null, pruned?: number]

const cases: readonly (readonly [what: string, entries: readonly HistoryEntry[], before: Before, Told[]])[] =
  [
    ['nothing', [], undefined, []],
    [
      'from the first one on',
      [entry(1, 'a'), entry(2, 'b')],
      undefined,
      [
        [1, ''],
        [2, 'a'],
      ],
    ],
    ['behind another page', [entry(3, 'c')], { id: 2, link: 'b' }, [[3, 'b']]],
    ['behind an entry of a version without links', [entry(3, 'c')], { id: 2 }, [[3, '']]],
    ['behind one that is not known any more', [entry(3, 'c')], { id: 2, link: null }, [[3, null]]],
    ['behind one that was pruned', [entry(3, 'c', 'b')], { id: 2, link: null }, [[3, 'b']]],
    [
      'where the oldest ones were pruned',
      [entry(4, 'd', 'c'), entry(5, 'e')],
      undefined,
      [
        [4, 'c', 3],
        [5, 'd'],
      ],
    ],
    [
      'where pruning has spared one',
      [entry(4, 'd'), entry(9, 'i', 'h')],
      undefined,
      [
        [4, null, 3],
        [9, 'h', 4],
      ],
    ],
  ]

for (const [what, entries, before, told] of cases)
  t.test(what, t => {
    const exported = exportedEntries(entries, before, 'n1')
    t.strictSame(
      exported.map(({ id, previous, pruned }) =>
        pruned === undefined ? [id, previous] : [id, previous, pruned],
      ),
      told,
    )
    for (const one of exported) {
      t.match(one, { recorder: 'n1', node: 'n2' })
      t.notHas(one, { follows: String }, 'what stood there is in "previous"')
    }
    t.end()
  })

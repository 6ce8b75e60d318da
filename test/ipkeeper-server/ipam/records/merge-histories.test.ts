import t from 'tap'
import { tenuresOf } from '../../../../ipkeeper-server/ipam/records/history-entry.ts'
import {
  mergeHistories,
  type RecordedEntry,
} from '../../../../ipkeeper-server/ipam/records/merge-histories.ts'

/** "n1:4 bound web-0 @10": entry 4 of node n1. */
function entry(text: string): RecordedEntry {
  const [, recordedBy = '', id, event, name = '', at] = /^(\w+):(\d+) (\w+) ([\w-]+) @(\d+)$/.exec(text) ?? []
  const isBound = event === 'bound' || event === 'moved'
  return {
    ...{
      recordedBy,
      id: Number(id),
      event: event as RecordedEntry['event'],
      at: Number(at),
      since: Number(at),
    },
    ...{
      segment: 'default',
      address: '10.0.0.2',
      pool: 'net',
      podUid: null,
      node: recordedBy,
      source: 'dynamic',
    },
    holder: { kind: 'pod', network: 'net', namespace: 'shop', name, ifname: 'eth0' },
    ...{ containerId: isBound ? `${name}-${id}` : null, until: null, link: `${recordedBy}${id}` },
  }
}

const told = (entries: readonly RecordedEntry[]): string[] =>
  entries.map(
    ({ recordedBy, event, holder }) => `${recordedBy} ${event} ${holder.kind === 'pod' ? holder.name : ''}`,
  )

const cases: readonly (readonly [
  what: string,
  entries: readonly string[],
  newestFirst: readonly string[],
])[] = [
  ['nothing', [], []],
  [
    'one node',
    ['n1:1 bound a @10', 'n1:2 cooling a @20', 'n1:3 bound b @30'],
    ['n1 bound b', 'n1 cooling a', 'n1 bound a'],
  ],
  [
    'a pod that moves between two nodes',
    ['n1:1 bound a @10', 'n1:2 held a @20', 'n2:1 bound a @30', 'n2:2 cooling a @40'],
    ['n2 cooling a', 'n2 bound a', 'n1 held a', 'n1 bound a'],
  ],
  [
    'a clock that is ahead: an end is dated after the next begin on another node',
    ['n1:1 bound a @10', 'n1:2 cooling a @35', 'n2:1 bound b @30'],
    ['n2 bound b', 'n1 cooling a', 'n1 bound a'],
  ],
  [
    'and the pod there has ended as well',
    ['n1:1 bound a @10', 'n1:2 cooling a @35', 'n2:1 bound b @30', 'n2:2 cooling b @32'],
    ['n2 cooling b', 'n2 bound b', 'n1 cooling a', 'n1 bound a'],
  ],
  [
    'another life of the same pod in between stays where it is',
    ['n1:1 bound a @10', 'n1:2 held a @20', 'n2:1 bound a @30', 'n2:2 cooling a @40', 'n2:3 bound b @50'],
    ['n2 bound b', 'n2 cooling a', 'n2 bound a', 'n1 held a', 'n1 bound a'],
  ],
  ['what was sent twice', ['n1:1 bound a @10', 'n1:1 bound a @10'], ['n1 bound a']],
]
for (const [what, entries, newestFirst] of cases) {
  t.test(what, t => {
    const merged = mergeHistories(entries.map(entry))
    t.strictSame(told(merged), newestFirst)
    t.strictSame(
      merged.map(({ id }) => id),
      newestFirst.map((_, index) => newestFirst.length - index),
    )
    t.strictSame(
      told(mergeHistories(entries.map(entry).toReversed())),
      newestFirst,
      'in whatever order they come',
    )
    t.end()
  })
}

t.test('of two pods none has the address while the other has, whatever the clocks say', t => {
  const merged = mergeHistories(['n1:1 bound a @10', 'n1:2 cooling a @35', 'n2:1 bound b @30'].map(entry))
  const bound = tenuresOf(merged, 100).filter(({ state }) => state === 'bound')
  t.strictSame(
    bound.map(({ entry, ended }) => `${entry.node}: ${ended ?? 'lasts'}`),
    ['n2: lasts', 'n1: not known how'],
  )
  t.end()
})

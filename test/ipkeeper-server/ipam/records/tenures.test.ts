import t from 'tap'
import type { HistoryEntry } from '../../../../ipkeeper-server/ipam/records/history-entry.ts'
import { tenuresOf } from '../../../../ipkeeper-server/ipam/records/tenures.ts'

const pod = (name: string) =>
  ({ kind: 'pod', network: 'net', namespace: 'shop', name, ifname: 'eth0' }) as const

let ids = 0
const entry = (event: HistoryEntry['event'], at: number, name = 'a', patch: Partial<HistoryEntry> = {}) =>
  ({
    ...{ id: ++ids, segment: 'default', address: '10.0.0.2', at, event, pool: 'net', holder: pod(name) },
    ...{ podUid: null, node: 'n1', source: 'dynamic', until: null, since: at },
    containerId: event === 'bound' || event === 'moved' ? `c${at}` : null,
    ...patch,
  }) satisfies HistoryEntry

const now = 100

/** Oldest first, as they happen; "bound 10-20 deleted" per tenure, newest first. */
const stories: readonly (readonly [
  what: string,
  events: readonly HistoryEntry[],
  told: readonly string[],
])[] = [
  ['nobody ever', [], []],
  ['has it', [entry('bound', 10)], ['bound 10-now']],
  [
    'deleted, rests',
    [entry('bound', 10), entry('cooling', 20, 'a', { until: 101 })],
    ['cooling 20-now', 'bound 10-20 deleted'],
  ],
  [
    'deleted, has rested',
    [entry('bound', 10), entry('cooling', 20, 'a', { until: 100 })],
    ['cooling 20-100 time over', 'bound 10-20 deleted'],
  ],
  [
    'kept, came back, taken over',
    [entry('bound', 10), entry('held', 20), entry('bound', 30), entry('moved', 40)],
    [
      'bound 40-now',
      'bound 30-40 taken over by a newer sandbox',
      'held 20-30 shop/a came back',
      'bound 10-20 deleted, kept',
    ],
  ],
  [
    'its node got another name',
    [
      entry('bound', 10, 'a', { containerId: 'c1' }),
      entry('moved', 20, 'a', { containerId: 'c1', node: 'n2' }),
    ],
    ['bound 20-now', 'bound 10-20 its node is called n2 now'],
  ],
  [
    'rested, given to another before its time',
    [entry('cooling', 20, 'a', { until: 60 }), entry('bound', 30, 'b')],
    ['bound 30-now', 'cooling 20-30 given to shop/b'],
  ],
  [
    'rested, given to another after its time',
    [entry('cooling', 20, 'a', { until: 60 }), entry('bound', 70, 'b')],
    ['bound 70-now', 'cooling 20-60 time over'],
  ],
  ['released', [entry('held', 20), entry('free', 30)], ['held 20-30 released']],
  [
    'given up',
    [entry('held', 20), entry('cooling', 30, 'a', { until: 200 })],
    ['cooling 30-now', 'held 20-30 given up'],
  ],
  [
    'kept anew',
    [entry('held', 20), entry('held', 30, 'a', { until: 200 })],
    ['held 30-now', 'held 20-30 kept anew'],
  ],
  ['undone', [entry('bound', 10), entry('undone', 11)], ['bound 10-11 ADD undone']],
]
for (const [what, events, told] of stories) {
  t.test(what, t => {
    const tenures = tenuresOf(events.toReversed(), now)
    t.strictSame(
      tenures.map(({ state, entry: { at }, to, ended }) =>
        `${state} ${at}-${to ?? 'now'} ${ended ?? ''}`.trim(),
      ),
      told,
    )
    t.end()
  })
}

t.test('addresses are told apart', t => {
  const events = [
    entry('bound', 10),
    entry('bound', 20, 'b', { address: '10.0.0.3' }),
    entry('bound', 30, 'c', { segment: 'lab' }),
    entry('moved', 40),
  ]
  const tenures = tenuresOf(events.toReversed(), now)
  t.strictSame(
    tenures.map(({ entry: { at }, to }) => [at, to]),
    [
      [40, null],
      [30, null],
      [20, null],
      [10, 40],
    ],
  )
  t.end()
})

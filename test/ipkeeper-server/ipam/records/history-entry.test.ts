import t from 'tap'
import {
  besidePresent,
  endOfEvent,
  historyEvent,
  sinceOf,
  type HistoryEntry,
  tenuresOf,
} from '../../../../ipkeeper-server/ipam/records/history-entry.ts'
import type { LeaseRecord, Write } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { lease as leaseOf, putLease } from '../../../rigs/records.ts'

const lease = (patch: Partial<LeaseRecord> = {}): LeaseRecord => leaseOf('10.0.0.2', 1, patch)
const other = { kind: 'pod', network: 'net', namespace: 'shop', name: 'db-0', ifname: 'eth0' } as const
const newer = { network: 'net', containerId: 'c2', ifname: 'eth0' }
const held = (until: number | null): Partial<LeaseRecord> => ({ state: 'held', attachment: null, until })
const cooling = (until: number): Partial<LeaseRecord> => ({ ...held(until), state: 'cooling' })
const remove: Write = { kind: 'lease', key: 'x', expect: 1, record: null }

const now = 100

type Patch = Partial<LeaseRecord>
const cases: readonly (readonly [
  what: string,
  before: Patch | undefined,
  after: Patch | null,
  event?: string,
])[] = [
  ['given', undefined, {}, 'bound'],
  ['given again from retention', held(null), {}, 'bound'],
  ['given to another while it rested', cooling(200), { holder: other }, 'bound'],
  ['given to another after its time', held(50), { holder: other }, 'bound'],
  ['taken over by the same pod', {}, { attachment: newer }, 'moved'],
  ['a container of the same ID, after its death', {}, { podUid: 'u2' }, 'moved'],
  ['its node got another name', {}, { node: 'n2' }, 'moved'],
  ['kept, and its node got another name', held(null), { ...held(null), node: 'n2' }],
  ['given back to another by an undo', {}, { holder: other, attachment: newer }, 'bound'],
  ['deleted and kept', {}, held(null), 'held'],
  ['deleted', {}, cooling(200), 'cooling'],
  ['kept until another moment', held(150), held(250), 'held'],
  ['given up', held(null), cooling(200), 'cooling'],
  ['released', held(null), null, 'free'],
  ['released while it rested', cooling(200), null, 'free'],
  ['tidied up in time', cooling(100), null],
  ['tidied up late', held(50), null],
  ['undone', {}, null, 'undone'],
  ['undone, and what it had taken is over by now', {}, cooling(50), 'undone'],
  ['over before, over after', held(50), cooling(60)],
  ['nothing but a new generation', {}, { generation: 7 }],
  ['kept, nothing but a new generation', held(150), { ...held(150), generation: 7, since: 90 }],
  ['another retention, of which nothing shows yet', {}, { retain: 'forever', mac: '02:00:00:00:00:01' }],
]
for (const [what, before, after, event] of cases) {
  t.test(what, t => {
    const write = after === null ? remove : putLease(lease(after), 1)
    const made = historyEvent(write, before && lease(before), now)
    t.equal(made?.event, event)
    t.equal(made?.at, event && now)
    t.end()
  })
}

t.test('what an event says', t => {
  const bound = historyEvent(putLease(lease(), null), undefined, now)
  t.strictSame(bound, {
    ...{ segment: 'default', address: '10.0.0.2', at: 100, event: 'bound', pool: 'net', until: null },
    ...{ holder: lease().holder, podUid: 'u1', node: 'n1', containerId: 'c1' },
    source: 'annotation ipkeeper.io/ip',
  })
  t.match(historyEvent(putLease(lease(held(300)), 1), lease(), now), { containerId: null, until: 300 })
  t.match(
    historyEvent(remove, lease({ ...held(300), holder: other }), now),
    { event: 'free', holder: other, until: null },
    'whose it was',
  )
  t.end()
})

t.test('writes of other kinds, and of what is not there', t => {
  t.equal(historyEvent({ kind: 'reservation', key: 'x', expect: 1, record: null }, undefined, now), undefined)
  t.equal(historyEvent(remove, undefined, now), undefined)
  t.end()
})

t.test('until when an entry tells of the present', t => {
  for (const [event, until, end] of [
    ['bound', null, null],
    ['moved', null, null],
    ['held', null, null],
    ['held', 300, 300],
    ['cooling', 300, 300],
    ['free', null, 100],
    ['undone', null, 100],
  ] as const)
    t.equal(endOfEvent({ event, until, at: 100 }), end, `${event} ${until}`)
  t.end()
})

t.test('since when the holder has it', t => {
  const event = historyEvent(putLease(lease(), null), undefined, now)!
  const before = (patch: Partial<HistoryEntry>): HistoryEntry => ({
    ...event,
    id: 1,
    at: 40,
    since: 20,
    ...patch,
  })
  for (const [newest, since] of [
    [undefined, 100],
    [before({}), 20],
    [before({ event: 'held' }), 20],
    [before({ event: 'cooling', until: 101 }), 20],
    [before({ event: 'cooling', until: 100 }), 100],
    [before({ event: 'free' }), 100],
    [before({ event: 'undone' }), 100],
    [before({ holder: other }), 100],
  ] as const)
    t.equal(sinceOf(event, newest), since, JSON.stringify(newest ?? null))
  t.end()
})

const pod = (name: string) =>
  ({ kind: 'pod', network: 'net', namespace: 'shop', name, ifname: 'eth0' }) as const

let ids = 0
const entry = (event: HistoryEntry['event'], at: number, name = 'a', patch: Partial<HistoryEntry> = {}) =>
  ({
    ...{ id: ++ids, segment: 'default', address: '10.0.0.2', at, event, pool: 'net', holder: pod(name) },
    ...{ podUid: null, node: 'n1', source: 'dynamic', until: null, since: at },
    containerId: event === 'bound' || event === 'moved' ? `c${at}` : null,
    ...((event === 'held' || event === 'cooling') && { by: 'del' as const }),
    ...patch,
  }) satisfies HistoryEntry

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
  ...(
    [
      ['gc', "by GC: not in the runtime's list"],
      ['sweeper', 'by the sweeper: sandbox gone'],
      ['operator', 'released by force'],
      [undefined, 'not known how'],
    ] as const
  ).map(
    ([by, ended]) =>
      [
        `ended by ${by ?? 'an older version'}`,
        [
          entry('bound', 10),
          { ...entry('held', 20), by },
          entry('bound', 30),
          { ...entry('cooling', 40), by },
        ],
        [
          'cooling 40-now',
          `bound 30-40 ${ended}`,
          'held 20-30 shop/a came back',
          `bound 10-20 ${ended}, kept`,
        ],
      ] as const,
  ),
  [
    'its node got another name',
    [
      entry('bound', 10, 'a', { containerId: 'c1' }),
      entry('moved', 20, 'a', { containerId: 'c1', node: 'n2' }),
    ],
    ['bound 20-now', 'bound 10-20 its node is now named n2'],
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
    'kept again',
    [entry('held', 20), entry('held', 30, 'a', { until: 200 })],
    ['held 30-now', 'held 20-30 kept again'],
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

t.test('what another node did is in its own history: here it is not known', t => {
  const has = {
    holder: pod('a'),
    attachment: { network: 'net', containerId: 'c10', ifname: 'eth0' },
    since: 20,
  }
  const cases: readonly (readonly [
    what: string,
    last: HistoryEntry,
    lease: Patch | undefined,
    told: string,
  ])[] = [
    ['it has it', entry('bound', 10), has, 'now'],
    ['it is kept', entry('held', 10), { ...has, ...held(null) }, 'now'],
    [
      'its next sandbox elsewhere',
      entry('bound', 10),
      { ...has, attachment: newer, node: 'n2' },
      '20 not known here; node n2 has had it since',
    ],
    [
      'released elsewhere',
      entry('bound', 10),
      { ...has, ...cooling(200), node: 'n2' },
      '20 not known here; node n2 has had it since',
    ],
    [
      'a clock that is behind',
      entry('bound', 10),
      { ...has, holder: pod('b'), since: 5 },
      '10 not known here; node n1 has had it since',
    ],
    ['gone', entry('held', 10), undefined, 'now not known here: another node has ended it'],
    ['over before', entry('cooling', 10, 'a', { until: 20 }), undefined, '20 time over'],
  ]
  for (const [what, last, present, told] of cases) {
    const [tenure] = tenuresOf([last], now)
    const { to, ended } = besidePresent(tenure!, present && lease(present))
    t.equal(`${to ?? 'now'} ${ended ?? ''}`.trim(), told, what)
  }
  t.end()
})

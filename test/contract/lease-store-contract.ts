import type { Test } from 'tap'
import type { HistoryEntry, HistoryEvent } from '../../ipkeeper-server/ipam/records/history-entry.ts'
import type { Change, LeaseRecord, Write } from '../../ipkeeper-server/ipam/records/records.ts'
import { leaseKey, mustStay } from '../../ipkeeper-server/ipam/records/records.ts'
import { ChainCheck, type ChainReport } from '../../ipkeeper-server/store/history-chain.ts'
import { StoreConflict, type HistoryRule, type LeaseStore } from '../../ipkeeper-server/store/lease-store.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { lease, poolRecord, putLease } from '../rigs/records.ts'

function deleteLease(record: LeaseRecord, expect: number): Write {
  return { kind: 'lease', key: leaseKey(record), expect, record: null }
}

function event(address: string, at: number, patch: Partial<HistoryEvent> = {}): HistoryEvent {
  return {
    segment: 'default',
    address,
    at,
    event: 'bound',
    pool: 'net',
    holder: lease(address).holder,
    podUid: 'u1',
    node: 'n1',
    containerId: 'c1',
    source: 'dynamic',
    until: null,
    ...patch,
  }
}

/** Remembers events without what they come from: each with the write of a record of its own. */
async function remember(store: LeaseStore, ...events: readonly HistoryEvent[]): Promise<void> {
  const { length } = await all(store)
  const records = events.map((_, index) => lease(`192.0.2.${length + index}`))
  for (const [index, record] of records.entries())
    await store.commit([putLease(record, null)], events.slice(index, index + 1))
}

/** "10.0.0.2 bound 5" per entry, as the store orders them. */
function chainOf(entries: readonly HistoryEntry[]): ChainReport {
  const check = new ChainCheck()
  for (const entry of entries) check.add(entry)
  return check.report()
}

const told = (entries: readonly HistoryEntry[]): string[] =>
  entries.map(entry => `${entry.address} ${entry.event} ${entry.at}`)

const whole = async (store: LeaseStore): Promise<string[]> => told(await store.history({ limit: 1_000_000 }))

interface Loaded {
  readonly kind: string
  readonly key: string
  readonly record: unknown
}

async function all(store: LeaseStore): Promise<Loaded[]> {
  const found: Loaded[] = []
  await store.load(({ kind, key, text }) => found.push({ kind, key, record: JSON.parse(text) as unknown }))
  return found.sort((a, b) => (a.kind + a.key < b.kind + b.key ? -1 : 1))
}

/** What a test of the contract needs: a store, and the same store after its process died and started again. */
export interface Subject {
  readonly open: (t: Test) => Promise<LeaseStore>
  /** undefined for stores that keep nothing. */
  readonly reopen: ((t: Test, store: LeaseStore) => Promise<LeaseStore>) | undefined
  /** The engine checks types: an address has to be one, and a moment to have a date. */
  readonly typed?: true
}

const pool = poolRecord('net')

/** Every promise in the comment of LeaseStore, by its number. */
export function leaseStoreContract(t: Test, subject: Subject): void {
  t.test('1: a change applies wholly', async t => {
    const store = await subject.open(t)
    await store.commit([
      putLease(lease('10.0.0.2'), null),
      { kind: 'pool', key: 'net', expect: null, record: pool },
    ])
    t.strictSame(await all(store), [
      { kind: 'lease', key: leaseKey(lease('10.0.0.2')), record: lease('10.0.0.2') },
      { kind: 'pool', key: 'net', record: pool },
    ])
  })

  const conflicts: readonly (readonly [name: string, before: Change, change: Change])[] = [
    ['create what is there', [putLease(lease('10.0.0.2'), null)], [putLease(lease('10.0.0.2'), null)]],
    ['change what is not there', [], [putLease(lease('10.0.0.2', 2), 1)]],
    [
      'change a newer generation',
      [putLease(lease('10.0.0.2', 3), null)],
      [putLease(lease('10.0.0.2', 3), 2)],
    ],
    [
      'delete a newer generation',
      [putLease(lease('10.0.0.2', 3), null)],
      [deleteLease(lease('10.0.0.2'), 2)],
    ],
    ['delete what is not there', [], [deleteLease(lease('10.0.0.2'), 1)]],
    [
      'what was to be absent is there',
      [putLease(lease('10.0.0.9'), null)],
      [putLease(lease('10.0.0.2'), null), mustStay('lease', leaseKey(lease('10.0.0.9')), undefined)],
    ],
    [
      'what was to stay was changed',
      [putLease(lease('10.0.0.9', 2), null)],
      [
        putLease(lease('10.0.0.2'), null),
        mustStay('lease', leaseKey(lease('10.0.0.9')), lease('10.0.0.9', 1)),
      ],
    ],
    [
      'the last of several writes',
      [putLease(lease('10.0.0.9'), null)],
      [
        putLease(lease('10.0.0.2'), null),
        putLease(lease('10.0.0.3'), null),
        putLease(lease('10.0.0.9'), null),
      ],
    ],
  ]
  for (const [name, before, change] of conflicts) {
    t.test(`1: conflict, nothing written: ${name}`, async t => {
      const store = await subject.open(t)
      await store.commit(before)
      const snapshot = await all(store)
      await t.rejects(store.commit(change), StoreConflict)
      t.strictSame(await all(store), snapshot)
    })
  }

  t.test('1: what was to be absent is, and stays so', async t => {
    const store = await subject.open(t)
    const conditions = [
      mustStay('reservation', leaseKey(lease('10.0.0.2')), undefined),
      mustStay('lease', leaseKey(lease('10.0.0.3')), undefined),
    ]
    await store.commit([conditions[0]!, putLease(lease('10.0.0.2'), null), conditions[1]!])
    const made = [{ kind: 'lease', key: leaseKey(lease('10.0.0.2')), record: lease('10.0.0.2') }]
    t.strictSame(await all(store), made)
    await store.commit([putLease(lease('10.0.0.3'), null)])
    t.equal((await all(store)).length, 2, 'and can be made afterwards')
    await store.commit([
      putLease(lease('10.0.0.4'), null),
      mustStay('lease', leaseKey(lease('10.0.0.3')), lease('10.0.0.3')),
    ])
    t.strictSame(await store.read('lease', leaseKey(lease('10.0.0.3'))), lease('10.0.0.3'), 'as it was')
    await store.commit([putLease(lease('10.0.0.3', 2), 1)])
  })

  t.test('1: change and delete by generation', async t => {
    const store = await subject.open(t)
    await store.commit([putLease(lease('10.0.0.2'), null)])
    await store.commit([putLease(lease('10.0.0.2', 2, { state: 'held' }), 1)])
    t.equal((await store.read('lease', leaseKey(lease('10.0.0.2'))))?.state, 'held')
    await store.commit([deleteLease(lease('10.0.0.2'), 2)])
    t.equal(await store.read('lease', leaseKey(lease('10.0.0.2'))), undefined)
  })

  const { reopen } = subject
  if (reopen) {
    t.test('2: what resolved is there after the process was killed', async t => {
      const store = await subject.open(t)
      await store.commit([putLease(lease('10.0.0.2'), null)])
      await store.commit([])
      const again = await reopen(t, store)
      t.strictSame(await all(again), [
        { kind: 'lease', key: leaseKey(lease('10.0.0.2')), record: lease('10.0.0.2') },
      ])
    })
  }

  t.test('3: a later change builds on an unresolved earlier one', async t => {
    const store = await subject.open(t)
    const commits = Array.from({ length: 20 }, (_, index) =>
      store.commit([putLease(lease('10.0.0.2', index + 1), index === 0 ? null : index)]),
    )
    await Promise.all(commits)
    t.equal((await store.read('lease', leaseKey(lease('10.0.0.2'))))?.generation, 20)
  })

  t.test('3: when the earlier one fails, the later one conflicts and others go on', async t => {
    const store = await subject.open(t)
    const outcomes = await Promise.allSettled([
      store.commit([putLease(lease('10.0.0.2', 5), 4)]),
      store.commit([putLease(lease('10.0.0.2', 6), 5)]),
      store.commit([putLease(lease('10.0.0.3'), null)]),
    ])
    t.strictSame(
      outcomes.map(outcome => outcome.status),
      ['rejected', 'rejected', 'fulfilled'],
    )
    t.equal((await all(store)).length, 1)
  })

  t.test("5: records come back equal and are the caller's own", async t => {
    const store = await subject.open(t)
    const odd = lease(subject.typed ? 'fd00::a:0:0' : 'fd00::"\'%', 1, {
      source: 'line\nbreak \u0000 ü 🌍',
      until: subject.typed ? 253_402_300_799_999 : 2 ** 53 - 1,
    })
    await store.commit([putLease(odd, null)])
    const found = await store.read('lease', leaseKey(odd))
    t.strictSame(found, odd)
    if (found) (found as { source: string }).source = 'changed by the reader'
    t.strictSame(await store.read('lease', leaseKey(odd)), odd)
  })

  t.test('6: a probe changes nothing, also between changes', async t => {
    const store = await subject.open(t)
    await store.probe()
    const first = store.commit([putLease(lease('10.0.0.2'), null)])
    const probed = store.probe()
    const second = store.commit([putLease(lease('10.0.0.2', 2), 1)])
    await Promise.all([first, probed, second])
    const before = await all(store)
    await store.probe()
    t.strictSame(await all(store), before)
    t.equal((await store.read('lease', leaseKey(lease('10.0.0.2'))))?.generation, 2)
  })

  t.test('7: after close every call rejects', async t => {
    const store = await subject.open(t)
    await store.close()
    await store.close()
    for (const call of [
      () => store.commit([putLease(lease('10.0.0.2'), null)]),
      () => store.read('lease', 'x'),
      () => store.load(() => undefined),
      () => store.probe(),
      () => store.history({ limit: 1 }),
      () => store.historyBegins(),
      () => store.pruneHistory({ olderThan: 0, maxEntries: 1, now: 0 }),
    ]) {
      const error: unknown = await call().catch((thrown: unknown) => thrown)
      t.ok(error instanceof Problem && error.code === 'IPK_STORE_FAILED', 'rejects with IPK_STORE_FAILED')
    }
  })

  t.test('7: many callers at once', async t => {
    const store = await subject.open(t)
    const winners = await Promise.allSettled(
      Array.from({ length: 50 }, (_, index) =>
        store.commit([putLease(lease('10.0.0.2', 1, { node: `n${index}` }), null)]),
      ),
    )
    t.equal(
      winners.filter(outcome => outcome.status === 'fulfilled').length,
      1,
      'one of fifty creates the record',
    )
  })

  t.test('8: events come with their change, or not at all', async t => {
    const store = await subject.open(t)
    const first = event('10.0.0.2', 10)
    await store.commit([putLease(lease('10.0.0.2'), null)], [first])
    const [entry] = await store.history({ limit: 10 })
    t.strictSame(entry, { ...first, id: entry?.id, since: 10, link: entry?.link }, 'as it was handed in')
    const refused = store.commit(
      [putLease(lease('10.0.0.3'), null), putLease(lease('10.0.0.2', 5), 4)],
      [event('10.0.0.3', 11), event('10.0.0.2', 11)],
    )
    const beside = store.commit([putLease(lease('10.0.0.4'), null)], [event('10.0.0.4', 11)])
    await t.rejects(refused, StoreConflict)
    await beside
    t.strictSame(await whole(store), ['10.0.0.4 bound 11', '10.0.0.2 bound 10'])
  })

  t.test('8: a change may bring several events, also of one address', async t => {
    const store = await subject.open(t)
    await store.commit(
      [putLease(lease('10.0.0.2'), null)],
      [event('10.0.0.2', 10), event('10.0.0.3', 10), event('10.0.0.2', 10, { event: 'moved' })],
    )
    t.strictSame(await whole(store), ['10.0.0.2 moved 10', '10.0.0.3 bound 10', '10.0.0.2 bound 10'])
    const ids = (await store.history({ limit: 10 })).map(({ id }) => id)
    t.ok(
      ids.every((id, index) => index === 0 || id < (ids[index - 1] ?? 0)),
      'IDs grow',
    )
  })

  const other = { kind: 'pod', network: 'net', namespace: 'shop', name: 'db-0', ifname: 'eth0' } as const
  const lives: readonly (readonly [what: string, events: readonly HistoryEvent[], since: number])[] = [
    ['the first', [event('10.0.0.2', 10)], 10],
    ['a newer sandbox', [event('10.0.0.2', 10), event('10.0.0.2', 20, { event: 'moved' })], 10],
    [
      'back from retention',
      [
        event('10.0.0.2', 10),
        event('10.0.0.2', 20, { event: 'held', until: null }),
        event('10.0.0.2', 30),
        event('10.0.0.2', 40, { event: 'cooling', until: 60 }),
      ],
      10,
    ],
    [
      'back after its time was over',
      [event('10.0.0.2', 10), event('10.0.0.2', 20, { event: 'cooling', until: 30 }), event('10.0.0.2', 30)],
      30,
    ],
    [
      'back after it was released',
      [
        event('10.0.0.2', 10, { event: 'held' }),
        event('10.0.0.2', 20, { event: 'free' }),
        event('10.0.0.2', 25),
      ],
      25,
    ],
    ['another holder', [event('10.0.0.2', 10), event('10.0.0.2', 20, { holder: other })], 20],
    [
      'the same address of another segment',
      [event('10.0.0.2', 10, { segment: 'lab' }), event('10.0.0.2', 20)],
      20,
    ],
  ]
  for (const [what, events, since] of lives) {
    t.test(`8: since when its holder has an address: ${what}`, async t => {
      const store = await subject.open(t)
      await remember(store, ...events)
      t.equal((await store.history({ limit: 1 }))[0]?.since, since)
    })
  }

  if (reopen) {
    t.test('8: what resolved is there after the process was killed, and goes on', async t => {
      const store = await subject.open(t)
      await remember(store, event('10.0.0.2', 10), event('10.0.0.2', 20, { event: 'held' }))
      const before = await store.history({ limit: 10 })
      const again = await reopen(t, store)
      t.strictSame(await again.history({ limit: 10 }), before)
      await remember(again, event('10.0.0.2', 30))
      const [newest] = await again.history({ limit: 1 })
      t.match(newest, { at: 30, since: 10 })
      t.ok((newest?.id ?? 0) > (before[0]?.id ?? 0))
    })
  }

  t.test('9: by segment, by address, up to an ID, not more than wanted', async t => {
    const store = await subject.open(t)
    await remember(
      store,
      ...['10.0.0.2', '10.0.0.3', '10.0.0.2', '10.0.0.2'].map((address, index) => event(address, index)),
      event('10.0.0.2', 4, { segment: 'lab' }),
    )
    const all = await store.history({ limit: 100 })
    for (const [query, wanted] of [
      [{ limit: 100 }, [4, 3, 2, 1, 0]],
      [{ limit: 2 }, [4, 3]],
      [{ segment: 'default', address: '10.0.0.2', limit: 100 }, [3, 2, 0]],
      [{ segment: 'default', address: '10.0.0.2', limit: 2 }, [3, 2]],
      [{ segment: 'lab', limit: 100 }, [4]],
      [{ address: '10.0.0.2', limit: 100 }, [4, 3, 2, 0]],
      [{ address: '10.0.0.2', limit: 2, before: all[1]?.id ?? 0 }, [2, 0]],
      [{ address: "' OR true --", limit: 100 }, []],
      [{ limit: 100, after: 0 }, [0, 1, 2, 3, 4]],
      [{ limit: 2, after: all[3]?.id ?? 0 }, [2, 3]],
      [{ limit: 2, after: all[0]?.id ?? 0 }, []],
    ] as const) {
      const found = await store.history(query)
      t.strictSame(
        found.map(({ at }) => at),
        wanted,
        JSON.stringify(query),
      )
    }
  })

  /** Of three addresses: one that somebody has, one that was freed, and one whose time is over at 45. */
  const story = [
    event('10.0.0.2', 10),
    event('10.0.0.3', 11),
    event('10.0.0.4', 12),
    event('10.0.0.3', 20, { event: 'held' }),
    event('10.0.0.4', 21, { event: 'cooling', until: 45 }),
    event('10.0.0.3', 30, { event: 'free' }),
    event('10.0.0.2', 40, { event: 'moved' }),
  ]
  /** `begins`: from when on none is missing. */
  const rules: readonly (readonly [rule: HistoryRule, left: readonly number[], begins: number])[] = [
    [{ olderThan: 0, maxEntries: 100, now: 50 }, [40, 30, 21, 20, 12, 11, 10], 10],
    [{ olderThan: 12, maxEntries: 100, now: 50 }, [40, 30, 21, 20, 12], 12],
    [{ olderThan: 21, maxEntries: 100, now: 50 }, [40, 30, 21], 21],
    [{ olderThan: 31, maxEntries: 100, now: 44 }, [40, 21], 40],
    [{ olderThan: 31, maxEntries: 100, now: 45 }, [40], 40],
    [{ olderThan: 100, maxEntries: 100, now: 50 }, [40], 40],
    [{ olderThan: 0, maxEntries: 5, now: 50 }, [40, 30, 21, 20, 12], 12],
    [{ olderThan: 0, maxEntries: 1, now: 44 }, [40, 21], 40],
    [{ olderThan: 0, maxEntries: 0, now: 50 }, [40], 40],
    [{ olderThan: 21, maxEntries: 2, now: 50 }, [40, 30], 30],
  ]
  for (const [rule, left, begins] of rules) {
    t.test(`10: pruned by ${JSON.stringify(rule)}`, async t => {
      const store = await subject.open(t)
      await remember(store, ...story)
      t.equal(await store.pruneHistory(rule), story.length - left.length)
      t.strictSame(
        (await store.history({ limit: 100 })).map(({ at }) => at),
        left,
      )
      t.match(chainOf(await store.history({ limit: 100, after: 0 })), {
        faults: [],
        pruned: left.length < story.length,
      })
      t.equal((await store.historyBegins())?.at, begins)
      t.equal(await store.pruneHistory(rule), 0, 'once is enough')
      t.equal((await all(store)).length, story.length, 'records stay')
    })
  }

  t.test('8: each entry bears a link to the one before it, also over a restart', async t => {
    const store = await subject.open(t)
    t.equal(await store.historyBegins(), undefined)
    await remember(store, ...story.slice(0, 4))
    await remember(store, ...story.slice(4))
    const again = reopen ? await reopen(t, store) : store
    await remember(again, event('10.0.0.5', 50))
    const { entries, unlinked, begins, faults } = chainOf(await again.history({ limit: 100, after: 0 }))
    t.strictSame([entries, unlinked, begins.length, faults], [story.length + 1, 0, 1, []])
  })

  t.test('11: entries of another store are adopted as they are, once', async t => {
    const store = await subject.open(t)
    const other = await subject.open(t)
    await remember(other, ...story)
    const entries = await other.history({ limit: 1000 })
    await store.adoptHistory(entries)
    t.strictSame(await store.history({ limit: 1000 }), entries)
    await store.adoptHistory(entries)
    t.strictSame(await store.history({ limit: 1000 }), entries)
    // Where both stand on one engine it has the records of the other.
    await store.commit([putLease(lease('198.51.100.1'), null)], story.slice(-1))
    const [newest] = await store.history({ limit: 1 })
    t.ok((newest?.id ?? 0) > (entries[0]?.id ?? 0), 'later ones come behind them')
    const changed = entries.map(entry => ({ ...entry, node: 'another' }))
    await t.rejects(store.adoptHistory(changed), { code: 'IPK_STORE_OCCUPIED' })
    t.equal((await store.history({ limit: 1000 })).length, entries.length + 1)
  })

  t.test('10: since when a holder has an address outlives the entry that said so first', async t => {
    const store = await subject.open(t)
    await remember(store, event('10.0.0.2', 10), event('10.0.0.2', 20, { event: 'moved' }))
    t.equal(await store.pruneHistory({ olderThan: 100, maxEntries: 100, now: 100 }), 1)
    await remember(store, event('10.0.0.2', 30, { event: 'moved' }))
    t.match(await store.history({ limit: 1 }), [{ at: 30, since: 10 }])
  })

  t.test('10: many entries, while others come, and a close in between', async t => {
    const store = await subject.open(t)
    const many = Array.from({ length: 3000 }, (_, index) => event(`10.0.${index % 7}.2`, index))
    await store.commit([putLease(lease('10.0.0.2'), null)], many)
    const pruning = store.pruneHistory({ olderThan: 0, maxEntries: 1000, now: 5000 })
    await store.commit([putLease(lease('10.0.0.3'), null)], [event('10.0.0.3', 4000)])
    t.equal(await pruning, 2000)
    t.equal((await whole(store)).length, 1001)
    const unfinished = store.pruneHistory({ olderThan: 5000, maxEntries: 1000, now: 5000 })
    await store.close()
    t.ok((await unfinished) <= 1000 - 7, 'ended, not failed')
  })
}

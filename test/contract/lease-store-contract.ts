import type { Test } from 'tap'
import type { Change, LeaseRecord, PoolRecord, Write } from '../../ipkeeper-server/ipam/records.ts'
import { leaseKey } from '../../ipkeeper-server/ipam/records.ts'
import { StoreConflict, type LeaseStore } from '../../ipkeeper-server/store/lease-store.ts'
import { Problem } from '../../shared/problem/problem.ts'

export function lease(address: string, generation = 1, patch: Partial<LeaseRecord> = {}): LeaseRecord {
  return {
    segment: 'default',
    address,
    generation,
    state: 'bound',
    pool: 'net',
    network: 'net',
    rangeSet: 0,
    prefixLength: 24,
    gateway: '10.0.0.1',
    holder: { kind: 'pod', network: 'net', namespace: 'shop', name: 'web-0', ifname: 'eth0' },
    podUid: 'u1',
    attachment: { network: 'net', containerId: 'c1', ifname: 'eth0' },
    node: 'n1',
    named: true,
    source: 'annotation ipkeeper.io/ip',
    retain: { milliseconds: 1000 },
    mac: null,
    since: 1,
    until: null,
    ...patch,
  }
}

export function putLease(record: LeaseRecord, expect: number | null): Write {
  return { kind: 'lease', key: leaseKey(record), expect, record }
}

function deleteLease(record: LeaseRecord, expect: number): Write {
  return { kind: 'lease', key: leaseKey(record), expect, record: null }
}

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
}

const pool: PoolRecord = { generation: 1, name: 'net', segment: 'default', ranges: [] }

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
    const odd = lease('fd00::"\'%', 1, { source: 'line\nbreak \u0000 ü 🌍', until: 2 ** 53 - 1 })
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
}

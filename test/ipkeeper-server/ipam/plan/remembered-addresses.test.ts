import t from 'tap'
import {
  forgetOldest,
  mostForgotten,
  mostRemembered,
  planForget,
} from '../../../../ipkeeper-server/ipam/plan/remembered-addresses.ts'
import type { PoolBook } from '../../../../ipkeeper-server/ipam/pools/pool-settings.ts'
import type { LeaseRecord, Write } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { Ledger } from '../../../../ipkeeper-server/leases/ledger/ledger.ts'
import { MemoryStore } from '../../../../ipkeeper-server/store/memory/memory-store.ts'
import { formatAddress } from '../../../../shared/net/address.ts'
import { lease, putLease } from '../../../contract/lease-store-contract.ts'
import { configured } from '../../leases/story.ts'

const numbered = (index: number): string => formatAddress({ family: 4, value: 0x0a000000n + BigInt(index) })

/** An address of pool ring that was released at a moment and is remembered. */
const unused = (index: number, since: number, patch: Partial<LeaseRecord> = {}): LeaseRecord =>
  lease(numbered(index), 1, {
    pool: 'ring',
    state: 'cooling',
    attachment: null,
    remembered: true,
    since,
    until: since + 1,
    ...patch,
  })
const inUse = (index: number, patch: Partial<LeaseRecord> = {}): LeaseRecord =>
  lease(numbered(index), 1, { pool: 'ring', ...patch })

const forgotten = (writes: readonly Write[]): string[] =>
  writes.map(({ kind, key, record }) => {
    if (kind !== 'lease') throw new Error(kind)
    return `${(JSON.parse(key) as string[])[1] ?? ''} ${record === null ? 'deleted' : record.state}`
  })

async function ledgerWith(records: readonly LeaseRecord[]): Promise<Ledger> {
  const ledger = await Ledger.open(new MemoryStore())
  await ledger.commit(records.map(record => putLease(record, null)))
  return ledger
}

t.test('room is made for those that join, the longest unused go', async t => {
  // One more than there is room for, released in the order of their numbers but for the first two.
  const full = Array.from({ length: mostRemembered }, (_, index) =>
    unused(index, index < 2 ? 1 - index : index),
  )
  const bound = [inUse(900_000), inUse(900_001), inUse(900_002)]
  const ledger = await ledgerWith([...full, ...bound])
  const release = (record: LeaseRecord): LeaseRecord => ({ ...unused(0, 10 ** 6), address: record.address })
  const [one, two, three] = bound.map(release)
  t.strictSame(forgotten(forgetOldest(ledger, [])), [])
  t.strictSame(forgotten(forgetOldest(ledger, [one!])), ['10.0.0.1 deleted'])
  t.strictSame(forgotten(forgetOldest(ledger, [one!, two!])), ['10.0.0.1 deleted', '10.0.0.0 deleted'])
  t.strictSame(
    forgotten(forgetOldest(ledger, [one!, inUse(2)])),
    [],
    'one that comes into use makes room for one that joins',
  )
  t.strictSame(
    forgotten(forgetOldest(ledger, [one!, two!, three!, inUse(1)])),
    ['10.0.0.0 deleted', '10.0.0.2 deleted'],
    'what the same change writes is not forgotten by it',
  )
  t.strictSame(
    forgotten(forgetOldest(ledger, [unused(5, 10 ** 6)])),
    [],
    'one that is remembered already needs no room',
  )
  t.strictSame(
    forgotten(forgetOldest(ledger, [{ ...one!, pool: 'other' }])),
    [],
    'each pool has its own room',
  )
})

t.test('far too many are forgotten a part at a time, the longest unused first', async t => {
  const many = Array.from({ length: mostRemembered + 100 }, (_, index) => unused(index, index))
  const ledger = await ledgerWith([...many, inUse(900_000)])
  const joining = { ...unused(0, 10 ** 6), address: numbered(900_000) }
  for (const [left, expected] of [
    [101, mostForgotten],
    [101 - mostForgotten, 101 - mostForgotten],
    [0, 0],
  ] as const) {
    const writes = forgetOldest(ledger, [joining])
    t.equal(writes.length, expected, `${left} too many`)
    await ledger.commit(writes)
  }
})

t.test('what only rests counts, but is not forgotten', async t => {
  const records = Array.from({ length: mostRemembered }, (_, index) => {
    const { remembered: _remembered, ...resting } = unused(index, index)
    return index < 3 && _remembered ? resting : unused(index, index)
  })
  const ledger = await ledgerWith([...records, inUse(900_000)])
  const joining = { ...unused(0, 10 ** 6), address: numbered(900_000) }
  t.strictSame(forgotten(forgetOldest(ledger, [joining])), ['10.0.0.3 deleted'])
})

t.test('a new configuration', t => {
  const standard: PoolBook['standard'] = {
    retention: 'release',
    cooldown: 1,
    preferFor: 1,
    strategy: 'lowest-free',
  }
  const ring = (strategy: 'lowest-free' | 'least-recently-used'): PoolBook => ({
    pools: [configured('ring', [['10.0.0.0/8']], { policy: { strategy } })],
    standard,
  })
  const records = [unused(1, 100), unused(2, 200, { until: 5000 }), inUse(3), unused(4, 1, { pool: 'gone' })]
  for (const [name, book, expected] of [
    ['the pool remembers still', ring('least-recently-used'), ['10.0.0.4 deleted']],
    [
      'it gives the lowest now',
      ring('lowest-free'),
      ['10.0.0.1 deleted', '10.0.0.2 cooling', '10.0.0.4 deleted'],
    ],
    ['it is gone', { pools: [], standard }, ['10.0.0.1 deleted', '10.0.0.2 cooling', '10.0.0.4 deleted']],
  ] as const) {
    t.strictSame(forgotten(planForget(records, book, 1000)), expected, name)
  }
  const [write] = planForget([unused(2, 200, { until: 5000 })], ring('lowest-free'), 1000)
  t.strictSame(write?.expect, 1)
  t.match(write?.record, { generation: 2, until: 5000 })
  t.notOk(write?.record && 'remembered' in write.record)
  t.end()
})

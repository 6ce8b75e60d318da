import t from 'tap'
import {
  leaseKey,
  mustStay,
  type Change,
  type LeaseRecord,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import {
  PendingCommits,
  type CommitUnderWay,
} from '../../../../ipkeeper-server/leases/ledger/pending-commits.ts'
import { emptyTables } from '../../../../ipkeeper-server/leases/ledger/record-table.ts'
import { lease, putLease } from '../../../rigs/records.ts'

const first = lease('10.0.0.2')
const second = lease('10.0.0.2', 2)
const name = { kind: 'lease', key: putLease(first, null).key } as const

/** What is durable of one lease, while memory has another version of it. */
function durable(pending: PendingCommits, inMemory: LeaseRecord | undefined): (number | undefined)[] {
  const tables = emptyTables()
  if (inMemory) tables.lease.set(name.key, inMemory)
  return Array.from(
    pending.durableRecords(tables),
    ({ text }) => (JSON.parse(text) as LeaseRecord).generation,
  )
}

const stateOf = (pending: PendingCommits, inMemory: LeaseRecord | undefined): object => ({
  underWay: pending.isUnderWay(name),
  indeterminate: pending.indeterminate().length,
  durable: durable(pending, inMemory),
})

/** Applies a change in memory, as far as what is pending is concerned: `before` is what was there. */
const begun = (pending: PendingCommits, change: Change, ...before: (LeaseRecord | null)[]): CommitUnderWay =>
  pending.begin(change, ({ key }) => ({
    record: before[change.findIndex(write => write.key === key)] ?? null,
    times: undefined,
  }))

/** What is put back when a commit is refused: address and generation. */
const putBack = (pending: PendingCommits, commit: CommitUnderWay): string[] =>
  Array.from(pending.refuse(commit), ({ key, record }) => `${key} ${record?.generation ?? 'gone'}`).sort()

t.test('a commit that is confirmed', t => {
  const pending = new PendingCommits()
  const commit = begun(pending, [putLease(first, null)], null)
  t.strictSame(stateOf(pending, first), { underWay: true, indeterminate: 0, durable: [] })
  t.equal(pending.confirm(commit), true)
  t.strictSame(stateOf(pending, first), { underWay: false, indeterminate: 0, durable: [1] })
  t.end()
})

t.test('a commit that is refused gives what is to be put back, and leaves its records indeterminate', t => {
  const pending = new PendingCommits()
  const commit = pending.begin([putLease(second, 1)], () => ({ record: first, times: '1 2 3' }))
  t.strictSame(stateOf(pending, second), { underWay: true, indeterminate: 0, durable: [1] })
  t.match(pending.refuse(commit), [{ ...name, record: first, times: '1 2 3' }])
  t.strictSame(stateOf(pending, first), { underWay: false, indeterminate: 1, durable: [1] })
  t.equal(pending.resolve(name), true)
  t.equal(pending.resolve(name), false, 'it was read again before')
  t.strictSame(stateOf(pending, first), { underWay: false, indeterminate: 0, durable: [1] })
  t.end()
})

t.test('two commits of one record: the second builds on the first', async t => {
  const both = (): { pending: PendingCommits; one: CommitUnderWay; two: CommitUnderWay } => {
    const pending = new PendingCommits()
    const one = begun(pending, [putLease(first, null)], null)
    return { pending, one, two: begun(pending, [putLease(second, 1)], first) }
  }
  const refused = both()
  t.strictSame(putBack(refused.pending, refused.one), [`${name.key} gone`])
  await t.rejects(refused.two.doomed, { name: 'StoreConflict', key: name.key })
  t.equal(refused.pending.resolve(name), false, 'the store has not answered the second one yet')
  t.strictSame(putBack(refused.pending, refused.two), [], 'that was done')
  t.strictSame(stateOf(refused.pending, undefined), { underWay: false, indeterminate: 1, durable: [] })

  const half = both()
  half.pending.confirm(half.one)
  t.strictSame(stateOf(half.pending, second), { underWay: true, indeterminate: 0, durable: [1] })
  t.strictSame(putBack(half.pending, half.two), [`${name.key} 1`])
  t.strictSame(stateOf(half.pending, first), { underWay: false, indeterminate: 1, durable: [1] })

  const taken = both()
  putBack(taken.pending, taken.one)
  await t.rejects(taken.two.doomed)
  t.equal(taken.pending.confirm(taken.two), false, 'the store took it all the same')
  t.strictSame(stateOf(taken.pending, undefined), { underWay: false, indeterminate: 1, durable: [] })
  t.equal(taken.pending.resolve(name), true, 'so it is read again')

  const quick = both()
  t.strictSame(putBack(quick.pending, quick.two), [`${name.key} 1`], 'as the first one has made it')
  t.strictSame(stateOf(quick.pending, first), { underWay: true, indeterminate: 1, durable: [] })
  quick.pending.confirm(quick.one)
  t.strictSame(stateOf(quick.pending, first), { underWay: false, indeterminate: 0, durable: [1] })
})

t.test('a commit that is refused takes along whatever builds on it, and nothing else', async t => {
  const at = (host: number, generation: number): LeaseRecord => lease(`10.0.0.${host}`, generation)
  const put = (host: number, generation: number): Change[number] =>
    putLease(at(host, generation), generation - 1)
  const stays = (host: number, generation: number): Change[number] =>
    mustStay('lease', leaseKey(at(host, generation)), at(host, generation))
  const pending = new PendingCommits()
  const earlier = begun(pending, [put(4, 2)], at(4, 1))
  const base = begun(pending, [put(2, 2), stays(5, 1)], at(2, 1), at(5, 1))
  const onBase = begun(pending, [put(2, 3), put(3, 2), put(4, 3)], at(2, 2), at(3, 1), at(4, 2))
  const onBoth = begun(pending, [put(3, 3), put(2, 4)], at(3, 2), at(2, 3))
  const besides = begun(pending, [put(5, 2)], at(5, 1))
  t.strictSame(putBack(pending, base), [
    '["default","10.0.0.2"] 1',
    '["default","10.0.0.3"] 1',
    '["default","10.0.0.4"] 2',
  ])
  const names = new Map([
    [earlier, 'earlier'],
    [base, 'base'],
    [onBase, 'on it'],
    [onBoth, 'on both'],
    [besides, 'after its condition'],
  ])
  const outcomes = Array.from(names, async ([{ doomed }, what]) =>
    Promise.race([doomed, Promise.resolve('goes on')]).then(
      () => '',
      () => what,
    ),
  )
  t.strictSame(
    (await Promise.all(outcomes)).filter(what => what !== ''),
    ['on it', 'on both'],
  )
  for (const doomed of [onBase, onBoth]) t.strictSame(putBack(pending, doomed), [])
  t.strictSame(putBack(pending, besides), ['["default","10.0.0.5"] 1'])
  t.strictSame(putBack(pending, earlier), ['["default","10.0.0.4"] 1'])
})

t.test('a commit that is confirmed while its record is read again makes the reading void', t => {
  const pending = new PendingCommits()
  pending.doubt(name)
  pending.confirm(begun(pending, [putLease(second, 1)], first))
  t.strictSame(pending.indeterminate(), [])
  t.equal(pending.resolve(name), false)
  t.end()
})

t.test('a record that is being deleted is durable until that is confirmed', t => {
  const pending = new PendingCommits()
  const commit = begun(pending, [{ ...name, expect: 1, record: null }], first)
  t.strictSame(durable(pending, undefined), [1])
  pending.confirm(commit)
  t.strictSame(durable(pending, undefined), [])
  t.end()
})

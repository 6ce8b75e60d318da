import t from 'tap'
import type { LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { PendingCommits } from '../../../../ipkeeper-server/leases/ledger/pending-commits.ts'
import { emptyTables } from '../../../../ipkeeper-server/leases/ledger/record-table.ts'
import { lease, putLease } from '../../../contract/lease-store-contract.ts'

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

t.test('a commit that is confirmed', t => {
  const pending = new PendingCommits()
  pending.begin(putLease(first, null), () => ({ record: null, times: undefined }))
  t.strictSame(stateOf(pending, first), { underWay: true, indeterminate: 0, durable: [] })
  pending.confirm(putLease(first, null))
  t.strictSame(stateOf(pending, first), { underWay: false, indeterminate: 0, durable: [1] })
  t.end()
})

t.test('a commit that is refused gives what is to be put back, and leaves its records indeterminate', t => {
  const pending = new PendingCommits()
  pending.begin(putLease(second, 1), () => ({ record: first, times: '1 2 3' }))
  t.strictSame(stateOf(pending, second), { underWay: true, indeterminate: 0, durable: [1] })
  t.match(pending.refuse(putLease(second, 1)), { record: first, times: '1 2 3' })
  t.strictSame(stateOf(pending, first), { underWay: false, indeterminate: 1, durable: [1] })
  t.equal(pending.resolve(name), true)
  t.equal(pending.resolve(name), false, 'it was read again before')
  t.strictSame(stateOf(pending, first), { underWay: false, indeterminate: 0, durable: [1] })
  t.end()
})

t.test('two commits of one record: only the last one to end puts anything back', t => {
  const [one, two] = [putLease(first, null), putLease(second, 1)]
  const begun = (): PendingCommits => {
    const pending = new PendingCommits()
    pending.begin(one, () => ({ record: null, times: undefined }))
    pending.begin(two, () => {
      throw new Error('what is under way is not durable')
    })
    return pending
  }
  const refused = begun()
  t.equal(refused.refuse(one), undefined)
  t.equal(refused.resolve(name), false, 'a commit of it is under way')
  t.match(refused.refuse(two), { record: null })
  t.strictSame(stateOf(refused, undefined), { underWay: false, indeterminate: 1, durable: [] })
  const half = begun()
  half.confirm(one)
  t.strictSame(stateOf(half, second), { underWay: true, indeterminate: 0, durable: [1] })
  t.match(half.refuse(two), { record: first, times: undefined })
  t.strictSame(stateOf(half, first), { underWay: false, indeterminate: 1, durable: [1] })
  t.end()
})

t.test('a commit that is confirmed while its record is read again makes the reading void', t => {
  const pending = new PendingCommits()
  pending.doubt(name)
  pending.begin(putLease(second, 1), () => ({ record: first, times: undefined }))
  pending.confirm(putLease(second, 1))
  t.strictSame(pending.indeterminate(), [])
  t.equal(pending.resolve(name), false)
  t.end()
})

t.test('a record that is being deleted is durable until that is confirmed', t => {
  const pending = new PendingCommits()
  const gone = { ...name, expect: 1, record: null }
  pending.begin(gone, () => ({ record: first, times: undefined }))
  t.strictSame(durable(pending, undefined), [1])
  pending.confirm(gone)
  t.strictSame(durable(pending, undefined), [])
  t.end()
})

import t from 'tap'
import { leaseKey, type LeaseRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { IndexedRecords } from '../../../../ipkeeper-server/leases/ledger/indexed-records.ts'
import { lease } from '../../../rigs/records.ts'

const put = (records: IndexedRecords, record: LeaseRecord): LeaseRecord | undefined =>
  records.put('lease', leaseKey(record), record)
const lowest = (records: IndexedRecords): bigint | undefined =>
  records.addresses.lowestFree('default', 4, { first: 0x0a000002n, last: 0x0a0000ffn })?.value

for (const isShared of [false, true]) {
  t.test(isShared ? 'a ledger that nodes share' : 'a ledger of one node', t => {
    const records = new IndexedRecords(isShared, 'n1')
    t.equal(put(records, lease('10.0.0.2', 1, { node: 'n1' })), undefined)
    put(records, lease('10.0.0.3', 1, { node: 'n2' }))
    put(records, lease('10.0.9.9', 1, { node: 'n2', state: 'cooling', attachment: null, until: 5 }))
    put(records, lease('fd00::9', 1, { node: 'n1', segment: 'lab "one"' }))
    const on = (node: string): string[] => Array.from(records.leasesOn(node), ({ address }) => address)
    t.strictSame(on('n1').sort(), ['10.0.0.2', 'fd00::9'], 'leases by node')
    t.strictSame(on('n2').sort(), ['10.0.0.3', '10.0.9.9'])
    t.strictSame(on('n3'), [])
    t.equal(put(records, lease('10.0.0.3', 2, { node: 'n1' }))?.node, 'n2', 'gives what was there')
    t.strictSame(on('n1').sort(), ['10.0.0.2', '10.0.0.3', 'fd00::9'])
    records.put('lease', leaseKey({ segment: 'default', address: '10.0.0.2' }), undefined)
    t.strictSame(on('n1').sort(), ['10.0.0.3', 'fd00::9'])
    t.end()
  })
}

t.test('an address whose record cannot be read is occupied until it is gone or can be read again', t => {
  const records = new IndexedRecords(true, 'n1')
  const key = leaseKey({ segment: 'default', address: '10.0.0.2' })
  for (const kind of ['lease', 'reservation'] as const) {
    t.equal(lowest(records), 0x0a000002n)
    records.leaveOut({ kind, key })
    t.not(lowest(records), 0x0a000002n, kind)
    records.leaveIn({ kind: kind === 'lease' ? 'reservation' : 'lease', key })
    t.not(lowest(records), 0x0a000002n, `${kind}: the other one is no reason`)
    records.leaveIn({ kind, key })
  }
  for (const odd of ['', '["default"]', '["default","nonsense"]', '[1,"10.0.0.2"]'])
    records.leaveOut({ kind: 'lease', key: odd })
  records.leaveOut({ kind: 'holder', key })
  t.equal(lowest(records), 0x0a000002n, 'what names no address occupies none')
  t.end()
})

import t from 'tap'
import { isSoundRecord } from '../../../../ipkeeper-server/ipam/plan/record-fault.ts'
import { holderKey, leaseKey } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { lease } from '../../../contract/lease-store-contract.ts'

const good = lease('10.0.0.2')
const key = leaseKey(good)
const holder = {
  holder: good.holder,
  generation: 1,
  attachment: null,
  leases: [{ segment: 'default', address: '10.0.0.2' }],
}
const pool = { generation: 1, name: 'net', segment: 'default', ranges: [] }

const sound = [
  ['lease', key, good],
  ['holder', holderKey(good.holder), holder],
  ['pool', 'net', pool],
  ['quota', '["net","shop",4]', { generation: 3, pool: 'net', namespace: 'shop', family: 4 }],
  ['mac', '["default",2]', { generation: 3, segment: 'default', lastOctet: 2 }],
] as const

for (const [kind, under, record] of sound) {
  t.test(`sound: ${kind}`, t => {
    t.ok(isSoundRecord(kind, under, record))
    t.notOk(isSoundRecord(kind, `${under}x`, record), 'under another key')
    t.notOk(isSoundRecord(kind, under, { ...record, generation: '1' }), 'generation')
    t.notOk(isSoundRecord(kind, under, {}), 'empty')
    t.notOk(isSoundRecord(kind, under, null), 'null')
    t.notOk(isSoundRecord(kind, under, [1]), 'a list')
    t.notOk(isSoundRecord(kind, under, 'a text'), 'a text')
    t.end()
  })
}

const faults: readonly (readonly [name: string, patch: object])[] = [
  ['no address', { address: 'x' }],
  ['no state', { state: 'mine' }],
  ['bound to nothing', { attachment: null }],
  ['no holder', { holder: null }],
  ['half a holder', { holder: { kind: 'pod', network: 'net' } }],
  ['a number for a node', { node: 7 }],
]
for (const [name, patch] of faults) {
  t.test(`unsound lease: ${name}`, t => {
    t.notOk(isSoundRecord('lease', key, { ...good, ...patch }))
    t.end()
  })
}

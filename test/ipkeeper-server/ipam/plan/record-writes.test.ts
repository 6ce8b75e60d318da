/** Conditional writes: which record each expects, and who loses an address to whom. */
import t from 'tap'
import {
  byHolder,
  dropFormerHolders,
  holderMustStay,
  leasesMustStay,
  withdrawFromHolder,
  writeAttachment,
} from '../../../../ipkeeper-server/ipam/plan/record-writes.ts'
import type { AddressBook } from '../../../../ipkeeper-server/ipam/pools/address-book.ts'
import { newHolder, ofSandbox } from '../../../../ipkeeper-server/ipam/records/new-records.ts'
import {
  holderKey,
  leaseKey,
  type AttachmentRecord,
  type Holder,
  type HolderRecord,
  type LeaseRecord,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { lease } from '../../../rigs/records.ts'
import { podHolder as pod } from '../../../rigs/records.ts'

const key = { network: 'net', containerId: 'c1', ifname: 'eth0' }
const sandbox = ofSandbox({ ...key, node: 'n1', podUid: 'u1', since: 0 })
const of = (name: string, address: string, patch: Partial<LeaseRecord> = {}): LeaseRecord =>
  lease(address, 1, { holder: pod(name), state: 'bound', attachment: key, ...patch })

/** As much of a book as these writes look at. */
function book(
  leases: readonly LeaseRecord[],
  holders: readonly HolderRecord[],
  isShared = true,
): AddressBook {
  return {
    isShared,
    lease: (at: LeaseRecord) => leases.find(one => leaseKey(one) === leaseKey(at)),
    holder: (who: Holder) => holders.find(({ holder }) => holderKey(holder) === holderKey(who)),
  } as unknown as AddressBook
}

t.test('that a holder is still what was seen is a condition where nodes share the store', t => {
  const web = newHolder(undefined, pod('web'), sandbox, [])
  t.strictSame(holderMustStay(book([], [web], false), pod('web')), [])
  const [write] = holderMustStay(book([], [web]), pod('web'))
  t.match(write, { kind: 'holder', key: holderKey(pod('web')), expect: 1, record: web })
  t.match(
    holderMustStay(book([], []), pod('web')),
    [{ expect: null, record: null }],
    'and that there is none',
  )
  t.end()
})

t.test('so is that leases are what was seen', t => {
  const seen = of('web', '10.0.0.2')
  const gone = { segment: 'default', address: '10.0.0.3' }
  t.strictSame(leasesMustStay(book([seen], [], false), [seen]), [])
  t.strictSame(leasesMustStay(book([seen], []), [seen, gone]), [
    { kind: 'lease', key: leaseKey(seen), expect: 1, record: seen },
    { kind: 'lease', key: leaseKey(gone), expect: null, record: null },
  ])
  t.end()
})

t.test('an attachment of another node has no record here that could be expected', t => {
  const seen = { ...key, generation: 3 } as AttachmentRecord
  t.match(writeAttachment(seen, key, null), { expect: 3, record: null })
  t.match(writeAttachment({ ...seen, generation: 0 }, key, null), { expect: null, record: null })
  t.match(writeAttachment(undefined, key, seen), { expect: null, record: seen })
  t.end()
})

t.test('a holder that loses addresses', t => {
  const [two, three] = ['10.0.0.2', '10.0.0.3'].map(address => ({ segment: 'default', address })) as [
    { segment: string; address: string },
    { segment: string; address: string },
  ]
  const web = newHolder(undefined, pod('web'), sandbox, [two, three])
  const kept = newHolder(undefined, pod('web'), ofSandbox(null), [two])
  const rows: readonly (readonly [
    name: string,
    holder: HolderRecord | undefined,
    lost: Parameters<typeof withdrawFromHolder>[2],
    expected: object | null | undefined,
  ])[] = [
    ['there is none', undefined, [two], undefined],
    ['it does not have them', kept, [three], undefined],
    ['it keeps the other one', web, [{ ...two, attachment: key }], { attachment: key, leases: [three] }],
    ['its sandbox is gone with the last one', web, [{ ...two, attachment: key }, three], null],
    ['its sandbox was not the one that had them', web, [two, three], { attachment: key, leases: [] }],
    ['it kept the last one without a sandbox', kept, [two], null],
  ]
  for (const [name, holder, lost, expected] of rows) {
    const writes = withdrawFromHolder(book([], holder ? [holder] : []), pod('web'), lost)
    if (expected === undefined) t.strictSame(writes, [], name)
    else if (expected === null) t.equal(writes[0]?.record, null, name)
    else t.match(writes[0]?.record, expected, name)
  }
  t.end()
})

t.test('who had what an ADD takes', t => {
  const had = [of('old', '10.0.0.2'), of('old', '10.0.0.3'), of('other', '10.0.0.4')]
  const holders = [
    newHolder(undefined, pod('old'), sandbox, had.slice(0, 2)),
    newHolder(undefined, pod('other'), sandbox, had.slice(2)),
  ]
  const taken = had.map(({ address }) => of('new', address))
  t.match(
    dropFormerHolders(book(had, holders), taken),
    [
      { kind: 'holder', key: holderKey(pod('old')), record: null },
      { kind: 'holder', key: holderKey(pod('other')), record: null },
    ],
    'each loses it once, and ends with its last address',
  )
  t.strictSame(dropFormerHolders(book(had, holders), had), [], 'not to itself')
  t.strictSame(dropFormerHolders(book([], []), taken), [], 'of a fresh address there is none')
  const half = had.map(one => ({ ...one, state: 'cooling' as const }))
  t.strictSame(
    dropFormerHolders(book(half, holders), taken),
    [],
    'a DEL that was carried out by half ends its holder itself',
  )
  t.end()
})

t.test('leases by whose they are', t => {
  const leases = [of('a', '10.0.0.2'), of('b', '10.0.0.3'), of('a', '10.0.0.4')]
  t.strictSame(
    byHolder(leases).map(group => group.map(({ address }) => address)),
    [['10.0.0.2', '10.0.0.4'], ['10.0.0.3']],
  )
  t.strictSame(byHolder([]), [])
  t.end()
})

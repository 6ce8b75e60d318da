import t from 'tap'
import {
  attachmentKey,
  type AttachmentRecord,
  type WiringRecord,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { AttachmentOutlines } from '../../../../ipkeeper-server/leases/ledger/attachment-outlines.ts'
import { IndexedRecords } from '../../../../ipkeeper-server/leases/ledger/indexed-records.ts'
import { LedgerReader } from '../../../../ipkeeper-server/leases/ledger/ledger-reader.ts'
import { attachmentRecord, podHolder } from '../../../rigs/records.ts'

const wiring: WiringRecord = {
  mode: 'ptp',
  ...{ mac: '02:00:00:00:00:01', mtu: 1500, master: null, routes: [], masqueraded: [] },
  ...{ proxyOn: null, hostLink: { name: 'ipk0123456789ab', mac: '02:00:00:00:00:02' } },
}

t.test('an outline is made once for each record, until there is another', t => {
  const outlines = new AttachmentOutlines()
  let read = 0
  const of = (record?: AttachmentRecord): unknown =>
    outlines.of('k', () => {
      read++
      return record
    })
  t.equal(of(), undefined)
  t.match(of(attachmentRecord({ madeBy: '/run/a.sock', netnsInode: '1', wiring })), {
    ...{ node: 'n1', bootId: 'boot-1', netns: '/run/netns/c1', netnsInode: '1', podUid: 'u1' },
    ...{ madeBy: '/run/a.sock', hostLink: 'ipk0123456789ab', podHash: Number },
  })
  t.match(of(attachmentRecord({ node: 'n2' })), { node: 'n1' }, 'it was not told of another')
  t.equal(read, 2)
  outlines.delete('k')
  t.match(of(attachmentRecord({ node: 'n2', bootId: null })), {
    ...{ node: 'n2', bootId: null, madeBy: undefined, hostLink: null },
  })
  t.end()
})

t.test('attachments of one pod have one number', t => {
  const outlines = new AttachmentOutlines()
  const numberOf = (id: string, patch: Partial<AttachmentRecord>): number | null | undefined =>
    outlines.of(id, () => attachmentRecord({ containerId: id, ...patch }))?.podHash
  const first = numberOf('c1', {})
  t.type(first, 'number')
  t.equal(numberOf('c2', {}), first)
  t.not(numberOf('c3', { holder: podHolder('web-1') }), first)
  const holder = { kind: 'container', network: 'net', containerId: 'c4', ifname: 'eth0' } as const
  t.equal(numberOf('c4', { holder }), null)
  t.end()
})

for (const how of ['loaded', 'put'] as const)
  t.test(`an attachment that is ${how}`, t => {
    const records = new IndexedRecords(false, 'n1')
    const reader = new LedgerReader(records)
    const keep = (record: AttachmentRecord): void => {
      const key = attachmentKey(record)
      if (how === 'put') records.put('attachment', key, record)
      else records.loadAttachment(key, JSON.stringify(record))
    }
    const [plain, wired] = [attachmentRecord(), attachmentRecord({ containerId: 'c2', wiring })]
    keep(plain)
    keep(wired)
    const name = attachmentKey(wired)
    t.strictSame(reader.attachmentNames(), [attachmentKey(plain), name])
    t.strictSame(reader.wiredAttachments(), [wired])
    const before = reader.lookAtAttachment(name)
    t.match(before?.outline, { containerId: 'c2', ifname: 'eth0', network: 'net', node: 'n1' })
    records.put('attachment', name, { ...plain, containerId: 'c2', node: 'n2', generation: 2 })
    t.strictSame(before?.record(), wired, 'as it was')
    t.equal(reader.lookAtAttachment(name)?.outline.node, 'n2')
    t.strictSame(
      Array.from(reader.attachmentOutlines(), ([, { node }]) => node),
      ['n1', 'n2'],
    )
    t.strictSame(reader.wiredAttachments(), [])
    records.put('attachment', name, undefined)
    t.equal(reader.lookAtAttachment(name), undefined)
    t.strictSame(
      Array.from(reader.attachmentOutlines(), ([of]) => of),
      [attachmentKey(plain)],
    )
    t.end()
  })

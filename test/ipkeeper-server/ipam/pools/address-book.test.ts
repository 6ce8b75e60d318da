import t from 'tap'
import { currentAttachment } from '../../../../ipkeeper-server/ipam/pools/address-book.ts'
import type { AttachmentRecord, HolderRecord } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { attachmentRecord, holderRecord } from '../../../rigs/records.ts'

const sandbox = { node: 'n2', podUid: 'u1', since: 5 }
const known = attachmentRecord({ generation: 3 })

t.test("a holder's current attachment", t => {
  const rows: readonly (readonly [
    name: string,
    patch: Partial<HolderRecord>,
    known: AttachmentRecord | undefined,
    expected: object | undefined,
  ])[] = [
    ['it has none', { attachment: null }, known, undefined],
    ['it is of this node', { sandbox }, known, known],
    [
      'it is of another node, which has not told of it yet',
      { sandbox },
      undefined,
      { ...sandbox, generation: 0 },
    ],
    ['nobody tells of it', {}, undefined, undefined],
  ]
  for (const [name, patch, told, expected] of rows) {
    const current = currentAttachment({ attachment: () => told }, holderRecord(patch))
    if (expected) t.match(current, expected, name)
    else t.equal(current, undefined, name)
  }
  t.end()
})

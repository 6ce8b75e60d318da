/** Which attachments are older than the list of a GC: only those may be missing from it because they are gone. */
import t from 'tap'
import { isOlderThanList, planGc, type GcTerms } from '../../../../ipkeeper-server/ipam/plan/plan-gc.ts'
import type { AddressBook } from '../../../../ipkeeper-server/ipam/pools/address-book.ts'
import type { AttachmentRecord, Began } from '../../../../ipkeeper-server/ipam/records/records.ts'

const second = 1_000_000
const minute = 60_000

/** Added in this boot by a run that began after 100 s, and answered after 101 s. */
const attachment = {
  ...{ network: 'net', containerId: 'c1', ifname: 'eth0', node: 'n1' },
  ...{ bootId: 'boot-1', startedAt: 100 * second, answeredAt: 101 * second },
} as AttachmentRecord

const terms: GcTerms = {
  liveness: () => 'unknown',
  clock: { now: 400_000, openedAt: 50_000, bootId: 'boot-1' },
  minAgeUnproved: 5 * minute,
  answeredAt: () => undefined,
}
const at = (seconds: number, bootId = 'boot-1'): Began => ({ bootId, startedAt: seconds * second })

t.test('whether an attachment was there before the list was made', t => {
  const rows: readonly (readonly [
    name: string,
    patch: { readonly [K in keyof AttachmentRecord]?: AttachmentRecord[K] | undefined },
    began: Began | undefined,
    known: Partial<GcTerms>,
    older: boolean,
  ])[] = [
    ['it was answered before', {}, at(102), {}, true],
    ['it was being answered meanwhile', {}, at(100.5), {}, false],
    ['its run began later', {}, at(99), {}, false],
    ['its run began in that moment', {}, at(100), {}, false],
    ['this daemon knows of a later answer', {}, at(102), { answeredAt: () => 103_000 }, false],
    ['no answer is recorded, and its run began before', { answeredAt: undefined }, at(102), {}, true],
    [
      'it may have been answered by an earlier daemon',
      { unanswered: { confirms: true } },
      at(102),
      {},
      false,
    ],
    [
      'the same, and it is proved dead',
      { unanswered: { confirms: true } },
      at(102),
      { liveness: () => 'dead' },
      true,
    ],
    [
      'the same, by this daemon',
      { unanswered: { confirms: true } },
      at(102),
      { answeredAt: () => 101_500 },
      true,
    ],
    ['its plugin dates its runs by another clock', { answeredAt: 900 * second }, at(102), {}, true],
    ['or by one that is behind', { answeredAt: 5 * second }, at(102), {}, true],
    ['it is of an earlier boot', { bootId: 'boot-0' }, at(1), {}, true],
    ['nobody says when the GC began', {}, undefined, {}, false],
    ['the same, and it is proved dead', {}, undefined, { liveness: () => 'dead' }, true],
    ['the same, and it has been there for long', { answeredAt: 50 * second }, undefined, {}, true],
    ['the GC began in an earlier boot', {}, at(200, 'boot-0'), {}, false],
    ['nobody says when the ADD began', { startedAt: null, answeredAt: undefined }, at(399), {}, true],
    [
      'the same, of a daemon that has just been started',
      { startedAt: null, answeredAt: undefined },
      at(399),
      { clock: { ...terms.clock, openedAt: 390_000 } },
      false,
    ],
  ]
  for (const [name, patch, began, known, older] of rows) {
    const record = { ...attachment, ...patch } as AttachmentRecord
    t.equal(isOlderThanList(record, began, { ...terms, ...known }), older, name)
  }
  t.end()
})

t.test('what a GC may end: of its network and node, and not in the list', t => {
  const all = [
    attachment,
    { ...attachment, containerId: 'c2' },
    { ...attachment, ifname: 'net1' },
    { ...attachment, containerId: 'c3', node: 'n2' },
    { ...attachment, containerId: 'c4', startedAt: 300 * second },
  ]
  const book = {
    attachmentsOf: (network: string) => (network === 'net' ? all : []),
  } as unknown as AddressBook
  const request = { node: 'n1', valid: [{ containerId: 'c1', ifname: 'eth0' }], began: at(200) }
  const ended = (network: string): readonly string[] =>
    planGc(book, { ...request, network }, terms).map(({ containerId, ifname }) => `${containerId} ${ifname}`)
  t.strictSame(ended('net'), ['c2 eth0', 'c1 net1'])
  t.strictSame(ended('other'), [])
  t.end()
})

t.test('of a long list only what is here is looked at whole', t => {
  const book = { attachmentsOf: () => [attachment] } as unknown as AddressBook
  const request = { network: 'net', node: 'n1', began: at(102) }
  let read = 0
  const elsewhere = Array.from({ length: 1000 }, (_, index) => ({
    containerId: `other-${index}`,
    get ifname() {
      read++
      return 'eth0'
    },
  }))
  const ended = (...more: readonly { readonly containerId: string; readonly ifname: string }[]) =>
    planGc(book, { ...request, valid: [...elsewhere, ...more] }, terms).length
  t.equal(ended(), 1)
  t.equal(ended({ containerId: 'c1', ifname: 'net1' }), 1)
  t.equal(ended({ containerId: 'c1', ifname: 'net1' }, { containerId: 'c1', ifname: 'eth0' }), 0)
  t.equal(read, 0)
  t.end()
})

import t from 'tap'
import type { AddPlan } from '../../../../ipkeeper-server/ipam/plan/plan-add.ts'
import {
  attachmentKey,
  type AttachmentRecord,
  type Change,
  type WiringRecord,
} from '../../../../ipkeeper-server/ipam/records/records.ts'
import { markMadeBy, recordUnanswered } from '../../../../ipkeeper-server/leases/verbs/attachment-notes.ts'
import { FragileStore } from '../../store/fragile-store.ts'
import { TestService } from '../test-service.ts'
import { attachmentOf, attachmentRecord } from '../../../rigs/records.ts'

const key = attachmentOf('c1')
const other = attachmentOf('c2')
const wiring: WiringRecord = {
  mode: 'bridge',
  mac: '0a:58:0a:16:00:02',
  mtu: 1500,
  hostLink: { name: 'ipk000000000000', mac: '0a:58:00:00:00:01' },
  master: 'cni0',
  routes: [],
  masqueraded: [],
  proxyOn: null,
}

const record = (of: typeof key, more: Partial<AttachmentRecord>): AttachmentRecord =>
  attachmentRecord({ ...of, generation: 3, answered: 3, invocationId: 'run-1', startedAt: 1, ...more })

/** The plan of an ADD of `key` with the record as it would be, and a write to the record of a former sandbox. */
function planOf(more: Partial<AttachmentRecord>, repeated: boolean): AddPlan {
  const change: Change = [
    { kind: 'attachment', key: attachmentKey(key), expect: null, record: record(key, more) },
    { kind: 'attachment', key: attachmentKey(other), expect: 2, record: record(other, {}) },
    { kind: 'lease', key: 'x', expect: 1, record: null },
  ]
  const answer = { kind: 'delegate', type: 'host-local' } as const
  return { change, generation: 3, answer, reasons: [], ...(repeated && { repeated: true }) }
}

type Mark = { readonly confirms: boolean } | undefined
const [none, confirming, silent]: readonly Mark[] = [undefined, { confirms: true }, { confirms: false }]

t.test('what is recorded of the answer', t => {
  const rows: readonly [
    role: 'ipam' | 'main',
    sending: 'first' | 'again',
    before: Mark,
    raw: Mark,
    confirms: Mark,
  ][] = [
    // role, sending, as it was; as it becomes where the caller does not confirm, and where it does
    ['ipam', 'first', none, none, confirming],
    ['ipam', 'again', confirming, none, confirming],
    ['ipam', 'again', none, none, none],
    ['main', 'first', none, silent, confirming],
    ['main', 'again', silent, silent, confirming],
    ['main', 'again', confirming, silent, confirming],
    ['main', 'again', none, none, none],
  ]
  for (const [role, sending, before, raw, confirmed] of rows) {
    for (const [confirms, expected] of [
      [false, raw],
      [undefined, raw],
      [true, confirmed],
    ] as const) {
      const plan = planOf(
        { ...(before && { unanswered: before }), ...(role === 'main' && { wiring }) },
        sending === 'again',
      )
      const made = recordUnanswered(plan, { key, ...(confirms !== undefined && { confirms }) }, 7)
      const name = `${role}, ${sending}, ${JSON.stringify(before)}, confirms ${String(confirms)}`
      t.strictSame((made.change[0]?.record as AttachmentRecord).unanswered, expected, name)
      const without = ([write]: Change): object => ({ ...write?.record, unanswered: undefined })
      t.strictSame(
        without(made.change),
        { ...without(plan.change), answeredAt: 7 },
        `${name}: all else stays`,
      )
      t.strictSame(made.change.slice(1), plan.change.slice(1), `${name}: other writes are left alone`)
      t.strictSame({ ...made, change: [] }, { ...plan, change: [] })
    }
  }
  t.end()
})

t.test('which runtime had a sandbox is remembered of the one that was seen', async t => {
  const store = new FragileStore()
  const story = await TestService.open(store)
  const { ledger } = story.service
  const of = (containerId: string): AttachmentRecord => ledger.attachment({ ...key, containerId })!
  for (const container of ['c1', 'c2', 'c3']) await story.add({ pod: container, container })
  const seen = ['c1', 'c2', 'c3'].map(id => ({ seen: { record: of(id) }, madeBy: '/run/a.sock' }))
  await story.del('c2')
  await story.del('c3')
  story.now += 1
  await story.add({ pod: 'c3', container: 'c3' })
  await markMadeBy(story.service, seen)
  t.strictSame(of('c1'), {
    ...seen[0]!.seen.record,
    madeBy: '/run/a.sock',
    generation: seen[0]!.seen.record.generation + 1,
  })
  t.equal(of('c2'), undefined, 'one that is gone')
  t.equal(of('c3').madeBy, undefined, 'one that was added again meanwhile')
  const again = await TestService.open(store)
  t.equal(again.service.ledger.attachment(key)?.madeBy, '/run/a.sock', 'it is durable')
})

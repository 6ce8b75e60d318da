import t from 'tap'
import type { Change } from '../../../../ipkeeper-server/ipam/records/records.ts'
import { EndedAttachments } from '../../../../ipkeeper-server/store/shared/ended-attachments.ts'
import type { Note } from '../../../../ipkeeper-server/store/shared/journal.ts'

const hour = 3_600_000
const keyOf = (container: string): string => JSON.stringify(['net', container, 'eth0'])

/** The end of an attachment, or its ADD. */
const change = (container: string, what: 'ends' | 'is added'): Change => [
  {
    kind: 'attachment',
    key: keyOf(container),
    expect: what === 'ends' ? 1 : null,
    record: what === 'ends' ? null : ({ generation: 1 } as never),
  },
]

const kept = (notes: readonly Note[]): { readonly key: string; readonly text: string }[] =>
  notes.flatMap(({ key, text }) => (text === null ? [] : [{ key, text }]))

t.test('what has ended is known for a day, also to later runs of the daemon', t => {
  for (const [bootId, uptime, isForgotten] of [
    ['boot-1', 33, false],
    ['boot-1', 34, true],
    ['boot-2', 23, false],
    ['boot-2', 24, true],
  ] as const) {
    const notes = kept(new EndedAttachments(() => 10 * hour, 'boot-1').after(change('one', 'ends')))
    const next = new EndedAttachments(() => uptime * hour, bootId)
    next.found(notes)
    t.ok(next.has(keyOf('one')))
    t.strictSame([...next.keys()], [{ network: 'net', containerId: 'one', ifname: 'eth0' }])
    const forgotten = next.after([]).map(({ key, text }) => ({ key, text }))
    t.strictSame(forgotten, isForgotten ? [{ key: keyOf('one'), text: null }] : [], `${bootId} ${uptime} h`)
    t.equal(next.has(keyOf('one')), !isForgotten)
  }
  t.end()
})

t.test('what is added again under its key has not ended', t => {
  const ended = new EndedAttachments(() => 0, 'boot-1')
  t.strictSame(ended.after(change('one', 'is added')), [], 'nothing is noted of what never ended')
  ended.after(change('one', 'ends'))
  t.match(ended.after(change('one', 'is added')), [{ kind: 'ended', key: keyOf('one'), text: null }])
  t.notOk(ended.has(keyOf('one')))
  t.end()
})

t.test('the oldest make room', t => {
  let now = 0
  const ended = new EndedAttachments(() => now++, 'boot-1')
  const notes = kept(Array.from({ length: 4096 }, (_, n) => ended.after(change(`c${n}`, 'ends'))).flat())
  const next = new EndedAttachments(() => now++, 'boot-1')
  next.found(notes.toReversed())
  t.strictSame(
    next.after(change('new', 'ends')).filter(({ text }) => text === null),
    [{ kind: 'ended', key: keyOf('c0'), text: null }],
  )
  t.ok(next.has(keyOf('c1')) && next.has(keyOf('new')))
  t.end()
})

import t from 'tap'
import {
  clipBytes,
  clipNote,
  EventSeries,
  type PodEvent,
  TokenBucket,
} from '../../../ipkeeper-server/kubernetes/event-series.ts'

const pod = { namespace: 'shop', name: 'web-0', uid: 'u1' }
const event: PodEvent = { type: 'Normal', reason: 'AddressGiven', message: 'm', action: 'Add' }

t.test('what counts as a repetition', t => {
  const minute = 60_000
  for (const [what, secondPod, secondEvent, later, count] of [
    ['the same', pod, event, minute, 2],
    ['the same, nearly too late', pod, event, 10 * minute - 1, 2],
    ['the same, too late', pod, event, 10 * minute, 1],
    ['the clock was set back', pod, event, -11 * minute, 1],
    ['another pod of that name', { ...pod, uid: 'u2' }, event, 0, 1],
    ['a pod of which no UID is known', { ...pod, uid: null }, event, 0, 1],
    ['another reason', pod, { ...event, reason: 'AddressRefused' }, 0, 1],
    ['another message', pod, { ...event, message: 'n' }, 0, 1],
    ['another remedy', pod, { ...event, remedy: 'do this' }, 0, 1],
    ['another type', pod, { ...event, type: 'Warning' }, 0, 1],
    ['another action is no other event', pod, { ...event, action: 'Check' }, 0, 2],
  ] as const) {
    const series = new EventSeries()
    const now = 1_000_000_000
    series.add(pod, event, now)
    t.match(series.add(secondPod, secondEvent, now + later), { count, lastAt: now + later }, what)
  }
  t.end()
})

t.test('what is long over is forgotten, and never too much is remembered', t => {
  const series = new EventSeries()
  const first = series.add(pod, event, 0)
  for (let at = 1; at <= 1000; at++) series.add(pod, { ...event, message: String(at) }, 1)
  t.not(series.add(pod, event, 2), first, 'a thousand others came')
  const last = series.add(pod, { ...event, message: '1000' }, 3)
  t.equal(last.count, 2)
  t.end()
})

t.test('a text is cut at bytes, never inside a character', t => {
  for (const [text, limit, expected] of [
    ['short', 10, 'short'],
    ['0123456789', 10, '0123456789'],
    ['0123456789a', 10, '0123456...'],
    ['ääääää', 10, 'äää...'],
    ['€€€€', 10, '€€...'],
    ['😀😀😀', 10, '😀...'],
  ] as const) {
    const clipped = clipBytes(text, limit)
    t.equal(clipped, expected)
    t.ok(Buffer.byteLength(clipped) <= limit)
  }
  t.end()
})

t.test('a note that is too long loses its middle, and never has half a command', t => {
  const remedy =
    'look who has them: ipkeeperctl leases --pool prod; then: ipkeeperctl release --pool prod --yes'
  const first = 'look who has them: ipkeeperctl leases --pool prod'
  for (const [what, message, given, limit, expected] of [
    ['all fits', 'it is full', remedy, 200, `it is full; ${remedy}`],
    ['nothing to do', 'it is full', '', 200, 'it is full'],
    ['a long text', 'n'.repeat(300), remedy, 200, `${'n'.repeat(101)}...; ${remedy}`],
    ['two bytes each', 'ä'.repeat(300), remedy, 200, `${'ä'.repeat(50)}...; ${remedy}`],
    [
      'a list',
      `in use: ${'10.22.0.10 (shop/a), '.repeat(9)}`,
      first,
      100,
      `in use: 10.22.0.10 (shop/a)...; ${first}`,
    ],
    ['a text with a command', 'it is full; type: ipkeeperctl pools prod', '', 30, 'it is full...'],
    ['a long remedy', 'it is full', remedy, 90, `it is full; ${first}...`],
    [
      'one command that is too long',
      'it is full',
      `ipkeeperctl move ${'1'.repeat(300)}`,
      100,
      'it is full...',
    ],
  ] as const) {
    const note = clipNote(message, given, limit)
    t.equal(note, expected, what)
    t.ok(Buffer.byteLength(note) <= limit, what)
  }
  t.end()
})

t.test('a burst, then so many per second', t => {
  const bucket = new TokenBucket(5, 3)
  for (const [now, expected] of [
    [1000, 0],
    [1000, 0],
    [1000, 0],
    [1000, 200],
    [1100, 100],
    [1200, 0],
    [1200, 200],
    [1199, 200],
    [60_000, 0],
    [60_000, 0],
    [60_000, 0],
    [60_000, 200],
  ] as const) {
    t.equal(bucket.take(now), expected, `at ${now}`)
  }
  t.end()
})

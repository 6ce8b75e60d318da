import t from 'tap'
import {
  judgeContactAge,
  see,
  spellTime,
  type Sighting,
} from '../../../../ipkeeper-server/ipam/records/last-contact.ts'

const minute = 60_000
const record = (generation: number, more: { readonly renewedAt?: number } = {}) => ({
  generation,
  since: 7,
  ...more,
})

t.test('what is seen of a record', t => {
  const first = see(undefined, record(1), 100)
  t.match(first, { seenAt: 100, unchangedUntil: 100 })
  t.match(see(first, record(1), 300), { seenAt: 100, unchangedUntil: 300 }, 'the same')
  t.match(
    see(see(first, record(1), 300), record(1), 200),
    { unchangedUntil: 300 },
    'of an answer that was late',
  )
  for (const [what, next] of [
    ['a later generation', record(2)],
    ['made anew', { ...record(1), since: 8 }],
    ['the same generation of another renewal', record(1, { renewedAt: 9 })],
  ] as const)
    t.match(see(first, next, 300), { seenAt: 300, unchangedUntil: 300 }, what)
  t.end()
})

const seen = (minutes: number): Sighting => ({
  version: '',
  seenAt: minute,
  unchangedUntil: minute + minutes * minute,
})

/** Each: what, the terms, the promise in minutes, the silence in minutes, what is made of it. */
const judged: readonly (readonly [
  string,
  number | undefined,
  number,
  number | undefined,
  number | undefined,
  object,
])[] = [
  ['off', undefined, 5, 5, 60, { kind: 'off' }],
  ['without a promise', 10, 5, undefined, 60, { kind: 'unpromised' }],
  ['not seen yet', 10, 5, 5, undefined, { kind: 'counting', age: 0, needed: 10 * minute }],
  ['just seen', 10, 5, 5, 0, { kind: 'counting', age: 0 }],
  ['not yet', 10, 5, 5, 9, { kind: 'counting', age: 9 * minute, needed: 10 * minute }],
  ['now', 10, 5, 5, 10, { kind: 'over', age: 10 * minute }],
  ['as configured, when that is more', 30, 5, 5, 20, { kind: 'counting', needed: 30 * minute }],
  ["never before twice the other node's own grace", 10, 5, 20, 30, { kind: 'counting', needed: 40 * minute }],
  ["nor before twice this one's", 10, 15, 5, 20, { kind: 'counting', needed: 30 * minute }],
]

t.test('whether the last contact with a node is long enough ago', t => {
  for (const [what, byTime, grace, promise, silent, expected] of judged) {
    const terms = { byTime: byTime === undefined ? undefined : byTime * minute, offlineGrace: grace * minute }
    const own = promise === undefined ? {} : { stopsAfter: promise * minute }
    t.match(judgeContactAge(terms, own, silent === undefined ? undefined : seen(silent)), expected, what)
  }
  t.match(
    judgeContactAge({ byTime: minute, offlineGrace: minute }, undefined, seen(60)),
    { kind: 'unpromised' },
    'no record',
  )
  t.end()
})

t.test('times as people read them', t => {
  for (const [milliseconds, text] of [
    [0, '0 s'],
    [1, '1 s'],
    [59_000, '59 s'],
    [60_000, '1 min'],
    [61_000, '1 min 1 s'],
    [3_600_000, '60 min'],
  ] as const)
    t.equal(spellTime(milliseconds), text)
  t.end()
})

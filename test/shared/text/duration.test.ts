import fc from 'fast-check'
import t from 'tap'
import { formatDuration, parseDuration } from '../../../shared/text/duration.ts'

t.test('durations', t => {
  for (const [text, milliseconds] of [
    ['1s', 1000],
    ['3s', 3000],
    ['90s', 90_000],
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['7d', 604_800_000],
    ['36525d', 3_155_760_000_000],
    ['3155760000s', 3_155_760_000_000],
  ] as const) {
    t.equal(parseDuration(text), milliseconds, text)
  }
  const wrong = [
    '',
    's',
    '5',
    '0s',
    '-1s',
    '+1s',
    '1.5h',
    '01m',
    '1h30m',
    '5 s',
    ' 5s',
    '5s\n',
    '5S',
    '5w',
    '5ms',
    '1e3s',
  ]
  const tooLong = ['36526d', '999999999d', '999999999h', '99999999999s']
  for (const text of [...wrong, ...tooLong]) t.equal(parseDuration(text), undefined, JSON.stringify(text))
  t.end()
})

t.test('the longest duration from now can still be written as a date', t => {
  t.match(new Date(Date.now() + (parseDuration('36525d') ?? NaN)).toISOString(), /^2\d{3}-/)
  t.end()
})

t.test('a duration is written in its largest whole unit, and read back the same', t => {
  for (const [text, same] of [
    ['60s', '1m'],
    ['90s', '90s'],
    ['120m', '2h'],
    ['24h', '1d'],
    ['25h', '25h'],
  ] as const) {
    t.equal(formatDuration(parseDuration(text) ?? 0), same)
  }
  t.equal(formatDuration(1500), '2s', 'never shorter than it is')
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3_155_760_000 }), seconds => {
      return parseDuration(formatDuration(seconds * 1000)) === seconds * 1000
    }),
  )
  t.end()
})

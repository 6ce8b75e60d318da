import t from 'tap'
import { isoTime } from '../../plugin/iso-time.ts'

t.test('as Date says it', t => {
  const moments = [0, 1, 9, 10, 99, 100, 999, 1_000, 59_999, 86_399_999, 951_782_400_000, 253_402_300_799_999]
  // Odd steps over a century, so that every part takes many values.
  for (let moment = 0; moment < 3_155_760_000_000; moment += 7_654_321_987) moments.push(moment)
  t.strictSame(
    moments.map(isoTime),
    moments.map(moment => new Date(moment).toISOString()),
  )
  t.end()
})

import t from 'tap'
import { countText, shareOf, sumOf } from '../../../../../ipkeeper-server/http/page/client/count-text.ts'
import {
  distanceText,
  spanText,
  timeText,
} from '../../../../../ipkeeper-server/http/page/client/time-text.ts'

t.test('counts in groups, to the last digit', t => {
  t.equal(countText(0), '0')
  t.equal(countText(999), '999')
  t.equal(countText(65533), '65,533')
  t.equal(countText('18446744073709551612'), '18,446,744,073,709,551,612')
  t.equal(sumOf([1, '18446744073709551615']), 2n ** 64n)
  t.end()
})

t.test('a share is nought only of nothing', t => {
  t.equal(shareOf(0n, 256n), 0)
  t.equal(shareOf(1n, 2n ** 64n), 1)
  t.equal(shareOf(128n, 256n), 50)
  t.equal(shareOf(256n, 256n), 100)
  t.equal(shareOf(0n, 0n), 0)
  t.end()
})

t.test('spans in at most two units', t => {
  const table: readonly [seconds: number, text: string][] = [
    [0, '0 s'],
    [8, '8 s'],
    [59.6, '1 min'],
    [75, '1 min 15 s'],
    [599, '9 min 59 s'],
    [630, '10 min'],
    [7_380, '2 h 3 min'],
    [86_400, '1 d'],
    [100_000, '1 d 3 h'],
    [-5, '0 s'],
  ]
  for (const [seconds, text] of table) t.equal(spanText(seconds * 1000), text)
  t.end()
})

t.test('moments', t => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  t.equal(timeText('2026-01-01T00:00:01.250Z'), '2026-01-01 00:00:01 UTC')
  t.equal(timeText('?'), '?')
  t.equal(distanceText('2026-01-01T00:00:08Z', now), 'in 8 s')
  t.equal(distanceText('2025-12-31T23:48:00Z', now), '12 min ago')
  t.equal(distanceText('2026-01-01T00:00:00.200Z', now), 'now')
  t.equal(distanceText('?', now), '?')
  t.end()
})

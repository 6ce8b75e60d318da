import t from 'tap'
import {
  exhaustionTerms,
  secondsToExhaustion,
  withOccupancy,
  type Occupancy,
} from '../../../ipkeeper-server/metrics/time-to-exhaustion.ts'

const moment = (at: number, occupied: number): Occupancy => ({ at, occupied })

t.test('seconds until a pool is full', t => {
  const table: readonly [
    why: string,
    past: readonly Occupancy[],
    present: Occupancy,
    free: number,
    seconds: number,
  ][] = [
    ['nothing is known', [], moment(0, 10), 90, Infinity],
    ['too little is known', [moment(0, 0)], moment(299, 50), 50, Infinity],
    ['ten in ten minutes, ten left', [moment(0, 80)], moment(600, 90), 10, 600],
    ['the oldest moment decides', [moment(0, 0), moment(900, 80)], moment(1_000, 100), 50, 500],
    ['steady', [moment(0, 50)], moment(600, 50), 50, Infinity],
    ['shrinking', [moment(0, 60)], moment(600, 50), 50, Infinity],
    ['full', [moment(0, 50)], moment(600, 100), 0, 0],
    ['full, and nothing is known', [], moment(0, 100), 0, 0],
    ['ranges shrank under it', [], moment(0, 100), -3, 0],
    ['an IPv6 pool', [moment(0, 0)], moment(3_600, 3_600), 2 ** 64, 2 ** 64],
  ]
  for (const [why, past, present, free, seconds] of table)
    t.equal(secondsToExhaustion(past, present, free, exhaustionTerms), seconds, why)
  t.end()
})

t.test('moments are remembered for an hour, one a minute', t => {
  let known: readonly Occupancy[] = []
  for (let at = 0; at <= 7_200; at += 15) known = withOccupancy(known, moment(at, at), exhaustionTerms)
  t.equal(known.length, 61)
  t.strictSame([known[0]?.at, known.at(-1)?.at], [3_600, 7_200])
  t.strictSame(
    withOccupancy(known, moment(20_000, 1), exhaustionTerms),
    [moment(20_000, 1)],
    'nobody had looked for hours',
  )
  t.end()
})

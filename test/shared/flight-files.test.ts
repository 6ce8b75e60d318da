import t from 'tap'
import { flightFileName, flightFileNumber } from '../../shared/flight-files.ts'

t.test('names of files and back', t => {
  for (const [number, name] of [
    [1, '000001.jsonl'],
    [999_999, '999999.jsonl'],
    [1_000_000, '1000000.jsonl'],
  ] as const) {
    t.equal(flightFileName(number), name)
    t.equal(flightFileNumber(name), number)
  }
  for (const foreign of ['1.jsonl', '000001.json', 'a000001.jsonl', '000001.jsonl~', '.000001.jsonl', ''])
    t.equal(flightFileNumber(foreign), undefined, foreign)
  t.end()
})

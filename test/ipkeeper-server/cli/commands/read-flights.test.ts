import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readFlights } from '../../../../ipkeeper-server/cli/commands/read-flights.ts'
import type { Flight } from '../../../../shared/api/flight.schema.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const flight = (pid: number, more: object = {}): Flight => ({
  ...{ at: '2026-11-21T10:00:00.000Z', verb: 'ADD', exit: 0, printed: 0 },
  ...{ durationMs: 1, pluginVersion: '0.1.0' },
  pid,
  ...more,
})
const line = (pid: number, more: object = {}): string => `${JSON.stringify(flight(pid, more))}\n`

t.test('in the order in which they were written, over all files', t => {
  const folder = t.testdir({
    '1000000.jsonl': line(4),
    '000009.jsonl': line(1) + line(2),
    '999999.jsonl': line(3),
    'notes.txt': 'not ours',
    '1.jsonl': line(99),
  })
  const { flights, unreadable } = readFlights(folder)
  t.strictSame(
    flights.map(({ pid }) => pid),
    [1, 2, 3, 4],
  )
  t.equal(unreadable, 0)
  t.end()
})

t.test('lines that are none are counted and passed by', t => {
  const torn = line(5).slice(0, -30)
  for (const [name, text, pids, unreadable] of [
    ['torn at the end', line(1) + torn, [1], 1],
    ['torn in the middle: it takes the next line with it', torn + line(1) + line(2), [2], 1],
    ['zeroes after a power cut', `\0\0\0\n${line(1)}`, [1], 1],
    ['no object', `null\n[]\n7\n${line(1)}`, [1], 3],
    ['without what every flight has', `{}\n${line(1)}`, [1], 1],
    ['of another type', line(2, { exit: 'yes' }) + line(1), [1], 1],
    ['of a newer version, which knows more', line(1, { news: true }), [1], 0],
    ['empty lines', `\n\n${line(1)}\n`, [1], 0],
    ['no newline at the end', line(1).trimEnd(), [1], 0],
    ['nothing', '', [], 0],
  ] as const) {
    const read = readFlights(t.testdir({ '000001.jsonl': text }))
    t.strictSame(
      read.flights.map(({ pid }) => pid),
      pids,
      name,
    )
    t.equal(read.unreadable, unreadable, name)
  }
  t.end()
})

t.test('what is no file is passed by, and nothing waits', t => {
  const folder = t.testdir({ '000002.jsonl': line(1), elsewhere: line(9) })
  t.equal(spawnSync('mkfifo', [join(folder, '000001.jsonl')]).status, 0)
  symlinkSync(join(folder, 'elsewhere'), join(folder, '000003.jsonl'))
  mkdirSync(join(folder, '000004.jsonl'))
  t.strictSame(readFlights(folder), { flights: [flight(1)], unreadable: 0 })
  t.end()
})

t.test('a folder that is not there is empty; one that is none is an error', async t => {
  const base = t.testdir({})
  t.strictSame(readFlights(join(base, 'flights')), { flights: [], unreadable: 0 })
  t.match(await thrownProblem(() => readFlights(join(base, 'none', 'flights'))), {
    code: 'IPK_FLIGHTS_UNREADABLE',
    message: `there is no state folder ${join(base, 'none')}`,
  })
  writeFileSync(join(base, 'file'), '')
  t.match(await thrownProblem(() => readFlights(join(base, 'file'))), {
    code: 'IPK_FLIGHTS_UNREADABLE',
    message: /file cannot be read \(ENOTDIR\)/,
  })
})

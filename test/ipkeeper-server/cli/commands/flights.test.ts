import t from 'tap'
import { flightFilter, selectFlights } from '../../../../ipkeeper-server/cli/commands/flights.ts'
import type { Flight } from '../../../../shared/api/flight.schema.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const flight = (pid: number, verb: string, containerId: string, exit: 0 | 1, pod?: string): Flight => ({
  ...{ at: '2026-11-21T10:00:00.000Z', printed: 0, durationMs: 1, pluginVersion: '0.1.0' },
  ...{ pid, verb, containerId, exit },
  ...(pod !== undefined && { pod }),
})
const { pid, at, verb, exit, printed, durationMs, pluginVersion } = flight(6, 'GC', '', 0)
const flights: readonly Flight[] = [
  flight(1, 'ADD', 'abc1', 1, 'shop/web-0'),
  flight(2, 'ADD', 'abc1', 0, 'shop/web-0'),
  flight(3, 'ADD', 'abd2', 0, 'shop/web-1'),
  flight(4, 'DEL', 'abc1', 0, 'shop/web-0'),
  flight(5, 'DEL', 'xabc', 1),
  { pid, at, verb, exit, printed, durationMs, pluginVersion },
]

t.test('what is wanted, newest last', t => {
  for (const [options, flags, pids] of [
    [{}, [], [1, 2, 3, 4, 5, 6]],
    [{ container: 'abc1' }, [], [1, 2, 4]],
    [{ container: 'ab' }, [], [1, 2, 3, 4]],
    [{ container: 'nobody' }, [], []],
    [{ pod: 'shop/web-0' }, [], [1, 2, 4]],
    [{ pod: 'shop/web' }, [], []],
    [{ pod: 'web-1' }, [], [3]],
    [{ namespace: 'shop' }, [], [1, 2, 3, 4]],
    [{ namespace: 'shop', pod: 'web-1' }, [], [3]],
    [{ namespace: 'lab', pod: 'shop/web-1' }, [], []],
    [{ 'sort-by': 'pod' }, [], [1, 2, 4, 3, 5, 6]],
    [{ 'sort-by': 'verb', limit: '4' }, [], [1, 2, 3, 4]],
    [{ verb: 'DEL' }, [], [4, 5]],
    [{ verb: 'del' }, [], [4, 5]],
    [{}, ['failed'], [1, 5]],
    [{ limit: '2' }, [], [5, 6]],
    [{ limit: '1', container: 'abc1', verb: 'ADD' }, [], [2]],
    [{ verb: 'ADD' }, ['failed'], [1]],
    [{ limit: '999' }, [], [1, 2, 3, 4, 5, 6]],
  ] as const) {
    const selected = selectFlights(flights, flightFilter(options, new Set(flags)))
    t.strictSame(
      selected.flights.map(({ pid }) => pid),
      pids,
      JSON.stringify([options, flags]),
    )
  }
  const many = Array.from({ length: 60 }, (_, pid) => flight(pid, 'ADD', 'c', 0))
  t.strictSame(selectFlights(many, flightFilter({}, new Set())), { flights: many.slice(-50), more: 10 })
  const slow = { ...flight(61, 'ADD', 'c', 0), durationMs: 900 }
  const slowest = flightFilter({ 'sort-by': 'duration', limit: '1' }, new Set())
  t.strictSame(selectFlights([slow, ...many], slowest), { flights: [slow], more: 60 })
  t.end()
})

t.test('called wrongly', async t => {
  for (const [options, message] of [
    [{ container: '../x' }, '--container "../x" is not a container ID or the beginning of one'],
    [{ container: '' }, '--container "" is not a container ID or the beginning of one'],
    [{ pod: 'a/b/c' }, '--pod "a/b/c" is neither NAME nor NAMESPACE/NAME'],
    [{ namespace: '' }, '--namespace is empty'],
    [{ 'sort-by': 'age' }, '--sort-by age is none of at, duration, pod, verb'],
    [{ verb: 'ad' }, '--verb "ad" is not one of ADD, CHECK, DEL, GC, STATUS, VERSION'],
    [{ limit: '0' }, '--limit "0" is not a whole number above 0'],
    [{ limit: '-1' }, '--limit "-1" is not a whole number above 0'],
    [{ limit: '1.5' }, '--limit "1.5" is not a whole number above 0'],
    [{ limit: 'all' }, '--limit "all" is not a whole number above 0'],
  ] as const)
    t.match(await thrownProblem(() => flightFilter(options, new Set())), { code: 'IPK_USAGE', message })
})

import t, { type Test } from 'tap'
import {
  decodeFigures,
  encodeBatch,
  startPluginRunner,
  type PluginRun,
  type PluginRunner,
} from '../../bench/plugin-runner.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('c-compiler')

const env = { PATH: '/usr/bin:/bin', CNI_COMMAND: 'ADD' }
const run = (program: string, input = ''): PluginRun => ({ program, env, input })

function startRunner(t: Test): PluginRunner {
  const runner = startPluginRunner()
  t.teardown(() => runner.close())
  return runner
}

t.test('a batch is texts that each end with a NUL', t => {
  t.equal(
    encodeBatch({ runs: [run('/a', '{}'), { program: '/b', env: {}, input: '' }], atOnce: 2 }),
    '2\0' + '2\0' + '/a\0{}\0PATH=/usr/bin:/bin\0CNI_COMMAND=ADD\0\0' + '/b\0\0\0',
  )
  t.end()
})

t.test('figures and output of each run are read in turns', t => {
  const batch = { runs: [run('/a'), run('/b'), run('/c')], atOnce: 3 }
  const texts = ['0 1 3.5 2.25 60 2048', '{}', '7 1.5 9 1 50 1024', 'full', '-9 2 4 0 40 512', '']
  const usage = (processorMs: number, pageFaults: number, peakMebibytes: number): object => ({
    ...{ processorMs, pageFaults, peakMebibytes },
  })
  t.strictSame(decodeFigures(batch, texts), {
    each: [
      { ms: 2.5, ...usage(2.25, 60, 2) },
      { ms: 7.5, ...usage(1, 50, 1), failure: '/b ADD: exit 7\nfull' },
      { ms: 2, ...usage(0, 40, 0.5), failure: '/c ADD: signal 9\n' },
    ],
    wholeMs: 9,
  })
  t.end()
})

t.test('programs get input and environment, and their figures are their own', { skip }, async t => {
  const runner = startRunner(t)
  const { each, wholeMs } = await runner.run({ runs: [run('/bin/cat', '{}'), run('/bin/true')], atOnce: 1 })
  t.equal(each.length, 2)
  const [first = NaN, second = NaN] = each.map(({ ms }) => ms)
  t.ok(first > 0 && second > 0 && wholeMs >= first + second, 'one after the other')
  for (const { pageFaults, peakMebibytes } of each)
    t.ok(pageFaults > 0 && peakMebibytes > 0 && peakMebibytes < 10, `${peakMebibytes} MiB, not those of Node`)

  const greedy = `x=$(head -c 30000000 /dev/zero | tr '\\0' x); [ "$CNI_COMMAND" = ADD ]; cat >&2; exit 3`
  const { each: failed } = await runner.attempt({
    runs: [{ ...run('/bin/sh', greedy) }, run('/bin/false')],
    atOnce: 2,
  })
  t.ok((failed[0]?.peakMebibytes ?? 0) > 28 && (failed[0]?.processorMs ?? 0) > 0)
  t.equal(failed[0]?.failure, '/bin/sh ADD: exit 3\n')
  t.equal(failed[1]?.failure, '/bin/false ADD: exit 1\n')
  await t.rejects(runner.run({ runs: [run('/bin/false')], atOnce: 1 }), /false ADD: exit 1/)
  t.strictSame(await runner.run({ runs: [], atOnce: 1 }), { each: [], wholeMs: 0 })
})

t.test('a program that cannot be started is named', { skip }, async t => {
  await t.rejects(startRunner(t).run({ runs: [run('/nowhere')], atOnce: 1 }), /nowhere: No such file/)
})

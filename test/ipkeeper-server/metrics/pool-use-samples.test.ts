import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { PoolUseNow, MeasuredUse } from '../../../ipkeeper-server/ipam/pools/forecast-full.ts'
import { PoolUseSamples, withSample } from '../../../ipkeeper-server/metrics/pool-use-samples.ts'

const [minute, day] = [60_000, 86_400_000]
const net = { name: 'net', family: 4 } as const

const use = (name: string, used: bigint): PoolUseNow => ({ name, family: 4, used, held: 1n })

t.test('samples outlive a restart, and those of a pool that is gone stay for two weeks', async t => {
  const stateDir = t.testdir()
  const errors: unknown[] = []
  const site = { at: 100 * day, pools: [use('net', 3n), use('old', 5n)] }
  const waits: number[] = []
  const open = (): PoolUseSamples =>
    new PoolUseSamples({
      stateDir,
      measure: () => Promise.resolve(site.pools),
      now: () => site.at,
      onError: error => errors.push(error),
      timers: {
        now: () => site.at,
        after: wait => {
          waits.push(wait)
          return () => undefined
        },
      },
    })
  const first = open()
  t.strictSame(first.of(net), [], 'nothing is known at first')
  await first.start()
  t.strictSame(waits, [10 * minute])
  site.at += 10 * minute
  site.pools = [use('net', 4n)]
  await first.start()
  await first.stop()
  const samples = [
    { at: 100 * day, used: 3, held: 1 },
    { at: 100 * day + 10 * minute, used: 4, held: 1 },
  ]
  const again = open()
  t.strictSame(again.of(net), samples)
  t.strictSame(again.of({ name: 'old', family: 4 }), [{ at: 100 * day, used: 5, held: 1 }])
  t.strictSame(again.of({ ...net, family: 6 }), [])
  t.equal(statSync(join(stateDir, 'pool-use.json')).mode & 0o777, 0o600)
  await again.start()
  t.strictSame(again.of(net), samples, 'a restart right after a sample adds none')
  site.at += 15 * day
  await again.start()
  t.strictSame(again.of({ name: 'old', family: 4 }), [])
  await again.stop()
  t.strictSame(errors, [])
})

t.test('a file that cannot be used is begun anew', async t => {
  const table: readonly [why: string, text: string][] = [
    ['no JSON', '{"version":1,'],
    ['a later version', '{"version":2,"pools":{"net IPv4":[[1,2,3]]}}'],
    ['no pools', '{"version":1}'],
    ['samples of another kind', '{"version":1,"pools":{"net IPv4":[["a",2,3],[1]]}}'],
  ]
  for (const [why, text] of table) {
    const stateDir = t.testdir()
    writeFileSync(join(stateDir, 'pool-use.json'), text)
    const samples = new PoolUseSamples({
      ...{ stateDir, measure: () => Promise.resolve([use('net', 7n)]), now: () => 5 },
      onError: error => t.fail(String(error)),
    })
    t.strictSame(samples.of(net), [], why)
    await samples.start()
    await samples.stop()
    t.match(readFileSync(join(stateDir, 'pool-use.json'), 'utf8'), '[[5,7,1]]', why)
  }
})

t.test('a file that cannot be written is told of, and the samples are there all the same', async t => {
  const stateDir = t.testdir()
  mkdirSync(join(stateDir, 'pool-use.json'))
  const errors: unknown[] = []
  const samples = new PoolUseSamples({
    ...{ stateDir, measure: () => Promise.resolve([use('net', 7n)]), now: () => 5 },
    onError: error => errors.push(error),
  })
  await samples.start()
  await samples.stop()
  t.equal(errors.length, 1)
  t.strictSame(samples.of(net), [{ at: 5, used: 7, held: 1 }])
})

t.test('samples of a day stay, then one an hour, for two weeks', t => {
  let samples: readonly MeasuredUse[] = []
  for (let at = 0; at <= 20 * day; at += 10 * minute) samples = withSample(samples, { at, used: 1, held: 0 })
  t.equal(samples.length, 24 * 6 + 1 + 13 * 24)
  t.equal(samples[0]?.at, 6 * day)
  const beforeNow = samples.map(({ at }) => at)
  t.strictSame(
    withSample(samples, { at: 10 * day, used: 1, held: 0 }).map(({ at }) => at),
    beforeNow.filter(at => at <= 10 * day),
    'what a clock that ran ahead has left goes',
  )
  t.end()
})

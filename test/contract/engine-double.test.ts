import t from 'tap'
import { StoreConflict } from '../../ipkeeper-server/store/lease-store.ts'
import { EngineAway, type Engine, type EngineWrite } from '../../ipkeeper-server/store/shared/engine.ts'
import { EngineDouble } from '../rigs/engine-double.ts'
import { until } from '../rigs/poll.ts'

const put = (key: string, text: string | null, base: number | null = null): EngineWrite => ({
  kind: 'lease',
  key,
  base,
  text,
})

/** What an engine's feed has told: "put a 1 x", "gone a", "all a=x b=y", "trouble ...", "no trouble". */
function listen(engine: Engine): string[] {
  const heard: string[] = []
  engine.start({
    replace: records =>
      heard.push(`all ${records.map(({ key, text }) => `${key}=${text}`).join(' ')}`.trim()),
    put: ({ key, revision, text }) => heard.push(`put ${key} ${revision} ${text}`),
    remove: (_, key) => heard.push(`gone ${key}`),
    broke: reason => heard.push(`broke: ${reason}`),
    trouble: reason => heard.push(reason === undefined ? 'no trouble' : `trouble: ${reason}`),
  })
  return heard
}

const heardAll = (heard: readonly string[], ...wanted: readonly string[]): Promise<void> =>
  until(wanted.join(', '), () => heard.join(', ') === wanted.join(', '), 5000).catch(() => {
    throw new Error(`heard: ${heard.join(', ')}; wanted: ${wanted.join(', ')}`)
  })

t.test('two nodes hear of each other, and of themselves', async t => {
  const engine = new EngineDouble()
  const [one, two] = [engine.connect(), engine.connect()]
  const [toOne, toTwo] = [listen(one), listen(two)]
  for (const heard of [toOne, toTwo]) await heardAll(heard, 'all')
  t.strictSame(await one.commit([put('a', 'x'), put('b', 'y')]), [1, 2])
  for (const heard of [toOne, toTwo]) await heardAll(heard, 'all', 'put a 1 x', 'put b 2 y')
  await t.rejects(two.commit([put('c', 'z'), put('a', 'z')]), StoreConflict)
  t.equal(await two.read('lease', 'c'), undefined, 'all or nothing')
  t.strictSame(await two.commit([put('a', null, 1)]), [null])
  for (const heard of [toOne, toTwo]) await heardAll(heard, 'all', 'put a 1 x', 'put b 2 y', 'gone a')
})

t.test('what a caller was told is not told older', async () => {
  const engine = new EngineDouble()
  const [one, two] = [engine.connect(), engine.connect()]
  const heard = listen(one)
  await heardAll(heard, 'all')
  one.turn({ deaf: true })
  await two.commit([put('a', 'x')])
  await two.commit([put('a', 'y', 1)])
  await one.read('lease', 'a')
  one.turn({ deaf: false })
  await heardAll(heard, 'all', 'put a 2 y')
})

t.test('a guard is read when news has come as far, or not at all', async t => {
  const engine = new EngineDouble()
  const [one, two] = [engine.connect(), engine.connect()]
  const heard = listen(one)
  await heardAll(heard, 'all')
  one.turn({ lagMs: 30 })
  await two.commit([put('a', 'x'), { ...put('m', '{}'), kind: 'mac' }])
  t.match(await one.read('mac', 'm'), { revision: 2 })
  t.ok(heard.includes('put a 1 x'), 'what stands behind it was heard')
  one.turn({ lagMs: 500 })
  await two.commit([put('a', 'y', 1), { ...put('m', '{}', 2), kind: 'mac' }])
  t.match(await one.read('lease', 'a'), { revision: 3 })
  await t.rejects(one.read('mac', 'm'), EngineAway)
  one.turn({ lagMs: 0 })
})

t.test('away: nothing is done, and the news comes later', async t => {
  const engine = new EngineDouble()
  const [one, two] = [engine.connect({ deadlineMs: 10 }), engine.connect()]
  const heard = listen(one)
  await heardAll(heard, 'all')
  for (const [away, reason] of [
    ['refuses', 'refuses'],
    ['silent', 'is silent'],
  ] as const) {
    one.turn({ away })
    await until(away, () => heard.at(-1)?.startsWith(`trouble: the engine ${reason}`) === true)
    await t.rejects(one.commit([put('a', 'x')]), EngineAway)
    await t.rejects(one.read('lease', 'a'), EngineAway)
    await t.rejects(one.probe(), EngineAway)
  }
  t.strictSame(engine.records(), [])
  await two.commit([put('b', 'y')])
  one.turn({ away: false })
  await until('news', () => heard.at(-1) === 'put b 1 y')
  t.match(heard, ['all', /^trouble/, /^trouble/, 'no trouble', 'put b 1 y'])
})

t.test('compacted while away: all anew', async () => {
  const engine = new EngineDouble()
  const [one, two] = [engine.connect(), engine.connect()]
  const heard = listen(one)
  await heardAll(heard, 'all')
  one.turn({ deaf: true })
  await two.commit([put('a', 'x')])
  engine.compact()
  await two.commit([put('b', 'y')])
  one.turn({ deaf: false })
  await heardAll(heard, 'all', 'all a=x b=y')
})

t.test('fates of a commit', async t => {
  const engine = new EngineDouble()
  const one = engine.connect({ deadlineMs: 10 })
  one.turn({ fate: () => 'conflict' })
  await t.rejects(one.commit([put('a', 'x')]), StoreConflict)
  one.turn({ fate: () => 'refused' })
  await t.rejects(one.commit([put('a', 'x')]), { code: 'IPK_STORE_FAILED' })
  t.strictSame(engine.records(), [])
  one.turn({ fate: () => ({ untold: 1 }) })
  await t.rejects(one.commit([put('a', 'x'), put('b', 'y')]), EngineAway)
  t.strictSame(
    engine.records().map(({ key }) => key),
    ['a'],
  )
})

t.test('without transactions, what was done is taken back', async t => {
  const engine = new EngineDouble()
  const [one, two] = [engine.connect({ piecewise: true, ignores: ['quota'] }), engine.connect()]
  await two.commit([put('b', 'y')])
  const heard = listen(two)
  await heardAll(heard, 'all b=y')
  const quota = { kind: 'quota', key: 'q', base: 7, text: 'q' } as const
  await t.rejects(one.commit([quota, put('a', 'x'), put('b', 'x')]), StoreConflict)
  await heardAll(heard, 'all b=y', 'put a 2 x', 'gone a')
  t.strictSame(await one.commit([quota, put('a', 'x'), put('b', null, 1)]), [0, 4, null])
  t.equal(engine.get('quota', 'q'), undefined)
})

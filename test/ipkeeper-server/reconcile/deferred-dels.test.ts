import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { DeferredDels } from '../../../ipkeeper-server/reconcile/deferred-dels.ts'
import { SpareDels } from '../../../ipkeeper-server/reconcile/spare-dels.ts'
import { Problem } from '../../../shared/problem/problem.ts'

const entry = (containerId: string): string =>
  JSON.stringify({
    version: 1,
    queuedAt: '2026-01-01T00:00:00Z',
    request: { containerId, netns: '', ifname: 'eth0', args: '', path: '/p', config: { name: 'net' } },
  })

function openQueue(t: Test, fails: (containerId: string) => Error | undefined = () => undefined) {
  const stateDir = t.testdir({})
  const done: string[] = []
  const quarantined: string[] = []
  const retried: string[] = []
  const spares = new SpareDels(stateDir, Date.now)
  const dels = new DeferredDels({
    ...{ stateDir, spares },
    del: async ({ containerId }) => {
      const error = fails(containerId)
      if (error) throw error
      return Promise.resolve()
    },
    onDone: ({ containerId }) => done.push(containerId),
    onQuarantine: (_file, reason) => quarantined.push(reason),
    onRetry: file => retried.push(file.replace(/.*\//, '')),
    onRetriesOver: () => retried.push('over'),
  })
  t.teardown(() => dels.stop())
  const folder = join(stateDir, 'deferred-dels')
  return {
    dels,
    spares,
    folder,
    stateDir,
    done,
    quarantined,
    retried,
    queue: (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
    },
  }
}

t.test('carries out what is queued, in the order of the names, and removes it', async t => {
  const { dels, folder, done, queue } = openQueue(t)
  for (const name of ['2-b.json', '1-a.json', '3-c.json']) queue(name, entry(name))
  queue('.4-being-written.json', '{"ver')
  await dels.drain()
  t.strictSame(done, ['1-a.json', '2-b.json', '3-c.json'])
  t.strictSame(readdirSync(folder), ['.4-being-written.json'], 'what is being written is left alone')
})

t.test('likewise what waits in spare files, each by itself', async t => {
  const { dels, spares, stateDir, done, quarantined } = openQueue(t)
  await spares.keep()
  const at = (name: string): string => join(stateDir, 'spare-dels', name)
  for (const name of ['0/1', '0/2', '0/3', '0/4', '7/7']) rmSync(at(name))
  writeFileSync(at('0/1d'), 'no JSON')
  writeFileSync(at('0/2d'), '{}')
  mkdirSync(at('0/3d'))
  symlinkSync('/etc/passwd', at('0/4d'))
  writeFileSync(at('7/7d'), `${entry('good')}   `)
  await dels.drain()
  t.strictSame(done, ['good'])
  t.equal(quarantined.length, 4)
  t.strictSame(await dels.count(), { waiting: 0, quarantined: 4 })
  t.ok(readdirSync(at('7')).includes('7'), 'free again')
  await spares.keep()
  t.equal(readdirSync(at('0')).length, 16, 'made anew')
})

t.test('what cannot be understood is put aside with the reason, and the rest is carried out', async t => {
  const bad: Readonly<Record<string, string>> = {
    'a-empty': '',
    'b-cut': entry('x').slice(0, 40),
    'c-null': 'null',
    'b-lines': 'no\nJSON\n',
    'd-other-version': entry('x').replace('"version":1', '"version":2'),
    'e-surplus': entry('x').replace('"version":1', '"version":1,"more":1'),
    'f-no-request': '{"version":1,"queuedAt":"x"}',
  }
  const { dels, folder, stateDir, done, quarantined, queue } = openQueue(t)
  for (const [name, text] of Object.entries(bad)) queue(name, text)
  symlinkSync('/etc/passwd', join(folder, 'g-link'))
  mkdirSync(join(folder, 'h-folder'))
  queue('z-good', entry('good'))
  await dels.drain()
  t.strictSame(done, ['good'])
  t.equal(quarantined.length, 9)
  t.strictSame(await dels.count(), { waiting: 0, quarantined: 9 })
  t.strictSame(readdirSync(folder), [])
  t.equal(
    readFileSync(join(stateDir, 'quarantine', 'deferred-dels-b-cut'), 'utf8'),
    bad['b-cut'],
    'as it was',
  )
  t.match(readFileSync(join(stateDir, 'quarantine', 'deferred-dels-b-cut.reason'), 'utf8'), /no JSON/)
  // What V8 says of text that is no JSON quotes it, line breaks and all.
  t.match(
    readFileSync(join(stateDir, 'quarantine', 'deferred-dels-b-lines.reason'), 'utf8'),
    /^no JSON: .+\n$/,
  )
})

t.test(
  'a DEL that no daemon will ever accept is put aside; one that the store refuses now stays',
  async t => {
    const { dels, folder, retried, quarantined, queue } = openQueue(t, containerId =>
      containerId === 'never'
        ? new Problem('IPK_NETWORK_NAME', 'missing network name')
        : containerId === 'later'
          ? new Problem('IPK_STORE_FAILED', 'disk full')
          : new Error('EIO'),
    )
    for (const name of ['never', 'later', 'unknown']) queue(name, entry(name))
    await dels.drain()
    t.strictSame(quarantined, ['missing network name'])
    t.strictSame(retried.sort(), ['later', 'unknown'])
    t.strictSame(readdirSync(folder).sort(), ['later', 'unknown'], 'nothing queued is dropped')
  },
)

t.test('why DELs stay is told once, and once that it is over', async t => {
  let code: 'IPK_STORE_LOST' | 'IPK_STORE_DAMAGED' | undefined = 'IPK_STORE_LOST'
  const { dels, done, retried, queue } = openQueue(t, () => (code ? new Problem(code, 'no') : undefined))
  const tells = async (): Promise<readonly string[]> => {
    await dels.drain()
    return retried.splice(0)
  }
  for (const name of ['a', 'b', 'c']) queue(name, entry(name))
  t.strictSame([await tells(), await tells()], [['a'], []])
  code = 'IPK_STORE_DAMAGED'
  t.strictSame([await tells(), await tells()], [['a'], []], 'another reason is news')
  code = undefined
  t.strictSame([await tells(), await tells()], [['over'], []])
  t.strictSame(done, ['a', 'b', 'c'])
  code = 'IPK_STORE_DAMAGED'
  queue('d', entry('d'))
  t.strictSame([await tells(), await tells()], [['d'], []], 'and so is one that comes back')
})

t.test('a file that appears while the daemon runs is carried out', async t => {
  const { dels, folder, done, queue } = openQueue(t)
  await dels.drain()
  const errors: unknown[] = []
  dels.watch(error => errors.push(error))
  queue('.late.json', entry('late'))
  renameSync(join(folder, '.late.json'), join(folder, 'late.json'))
  for (let waited = 0; done.length === 0 && waited < 5000; waited += 10) await delay(10)
  await dels.stop()
  t.strictSame(done, ['late'])
  t.strictSame(errors, [])
})

t.test('what was queued between the first drain and the watch is not forgotten', async t => {
  const { dels, done, queue } = openQueue(t)
  await dels.drain()
  queue('between.json', entry('between'))
  dels.watch(error => {
    t.fail(String(error))
  })
  for (let waited = 0; done.length === 0 && waited < 5000; waited += 10) await delay(10)
  await dels.stop()
  t.strictSame(done, ['between'])
})

t.test("what cannot even be put aside stays, and is in nobody's way", async t => {
  const { dels, folder, stateDir, done, quarantined, retried, queue } = openQueue(t)
  writeFileSync(join(stateDir, 'quarantine'), 'a file where the folder should be')
  queue('a-bad', '{')
  queue('b-good', entry('good'))
  await dels.drain()
  t.strictSame(done, ['good'])
  t.strictSame(quarantined, [])
  t.strictSame(retried, ['a-bad'])
  t.strictSame(readdirSync(folder), ['a-bad'])
})

t.test('an entry that the plugin took back while it was carried out', async t => {
  const { dels, folder, done, retried, queue } = openQueue(t, containerId => {
    rmSync(join(folder, containerId))
    return undefined
  })
  queue('taken-back', entry('taken-back'))
  await dels.drain()
  t.strictSame(done, ['taken-back'])
  t.strictSame(retried, [])
})

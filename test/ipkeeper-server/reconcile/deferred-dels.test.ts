import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { DeferredDels } from '../../../ipkeeper-server/reconcile/deferred-dels.ts'
import { Problem } from '../../../shared/problem/problem.ts'

const entry = (containerId: string): string =>
  JSON.stringify({
    version: 1,
    queuedAt: '2026-01-01T00:00:00Z',
    request: { containerId, netns: '', ifname: 'eth0', args: '', path: '/p', config: { name: 'net' } },
  })

function site(t: Test, fails: (containerId: string) => Error | undefined = () => undefined) {
  const stateDir = t.testdir({})
  const done: string[] = []
  const quarantined: string[] = []
  const retried: string[] = []
  const dels = new DeferredDels({
    stateDir,
    del: async ({ containerId }) => {
      const error = fails(containerId)
      if (error) throw error
      return Promise.resolve()
    },
    onDone: ({ containerId }) => done.push(containerId),
    onQuarantine: (_file, reason) => quarantined.push(reason),
    onRetry: file => retried.push(file.replace(/.*\//, '')),
  })
  t.teardown(() => dels.stop())
  const folder = join(stateDir, 'deferred-dels')
  return {
    dels,
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
  const { dels, folder, done, queue } = site(t)
  for (const name of ['2-b.json', '1-a.json', '3-c.json']) queue(name, entry(name))
  queue('.4-being-written.json', '{"ver')
  await dels.drain()
  t.strictSame(done, ['1-a.json', '2-b.json', '3-c.json'])
  t.strictSame(readdirSync(folder), ['.4-being-written.json'], 'what is being written is left alone')
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
  const { dels, folder, stateDir, done, quarantined, queue } = site(t)
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
    const { dels, folder, retried, quarantined, queue } = site(t, containerId =>
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

t.test('a file that appears while the daemon runs is carried out', async t => {
  const { dels, folder, done, queue } = site(t)
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
  const { dels, done, queue } = site(t)
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
  const { dels, folder, stateDir, done, quarantined, retried, queue } = site(t)
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
  const { dels, folder, done, retried, queue } = site(t, containerId => {
    rmSync(join(folder, containerId))
    return undefined
  })
  queue('taken-back', entry('taken-back'))
  await dels.drain()
  t.strictSame(done, ['taken-back'])
  t.strictSame(retried, [])
})

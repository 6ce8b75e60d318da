import t from 'tap'
import { startProgram } from '../../plugin/edges/node/start-program.ts'
import { createAskAside, createRunChild } from '../../plugin/run-child.ts'

const kills: (() => void)[] = []
const runChild = createRunChild(startProgram, kill => kills.push(kill))
const env = { PATH: process.env['PATH'] ?? '' }
/** Runs a shell script: sh reads it from stdin. */
const run = (script: string, timeoutMs = 20_000) =>
  runChild({ program: '/bin/sh', env, stdin: script, timeoutMs })

t.test('how a child ends', async t => {
  t.strictSame(await run('echo out; echo err >&2; exit 3'), {
    exit: 3,
    signal: undefined,
    stdout: 'out\n',
    stderr: 'err\n',
    late: false,
  })
  t.match(await run('kill -9 $$'), { exit: undefined, signal: 'SIGKILL', late: false })
  t.match(await run('exec sleep 60', 100), { signal: 'SIGKILL', late: true })
  t.match(await runChild({ program: '/bin/true', env, stdin: 'x'.repeat(1e6), timeoutMs: 20_000 }), {
    exit: 0,
  })
  await t.rejects(runChild({ program: '/nowhere/x', env, stdin: '', timeoutMs: 1000 }), { code: 'ENOENT' })
})

t.test('long output arrives whole; what is beyond the limit is dropped and holds nobody up', async t => {
  t.equal((await run('head -c 1000000 /dev/zero')).stdout.length, 1_000_000)
  const { exit, stdout } = await run('head -c 50000000 /dev/zero')
  t.equal(exit, 0)
  t.ok(stdout.length < 9 * 1024 * 1024)
})

t.test('a child can be ended with the run', async t => {
  const before = kills.length
  const ended = run('exec sleep 60')
  while (kills.length === before) await new Promise(resolve => setTimeout(resolve, 5))
  kills.at(-1)?.()
  t.match(await ended, { signal: 'SIGKILL', late: false })
})

t.test('another process of the same executable is heard, and its end is not waited for', async t => {
  const folder = t.testdir({
    'says.js':
      // Until nobody listens any more.
      'process.stdout.write("{}\\n"); setInterval(() => process.stdout.write("\\n"), 100)',
    'silent.js': '',
    'hangs.js': 'setTimeout(() => undefined, 2000)',
  })
  const askAside = createAskAside(startProgram, process.execPath)
  const ask = (script: string, timeoutMs = 10_000) => askAside(`${folder}/${script}`, '', timeoutMs)
  t.match(await ask('says.js'), /^\{\}\n/)
  t.equal(await ask('silent.js'), undefined)
  t.equal(await ask('hangs.js', 100), false)
})

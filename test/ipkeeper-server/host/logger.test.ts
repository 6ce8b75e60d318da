import { join } from 'node:path'
import t from 'tap'
import { runProgram } from '../../rigs/run-program.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const logger = join(root, 'ipkeeper-server', 'host', 'logger.ts')
const problem = join(root, 'shared', 'problem', 'problem.ts')

/** Lines on stderr of a program that has a logger and runs the script. */
async function logged(level: string, script: string): Promise<Record<string, unknown>[]> {
  const program = `import { createLogger } from ${JSON.stringify(logger)}
const log = createLogger(${JSON.stringify(level)}, 'worker-1')
${script}`
  const { stdout, stderr } = await runProgram(process.execPath, ['--input-type=module', '-e', program])
  if (stdout !== '') throw new Error(`stdout is not the logger's: ${stdout}`)
  return stderr
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Record<string, unknown>)
}

t.test('one JSON line per call, with level, time, node and message', async t => {
  const lines = await logged('info', `log.info({ containerId: 'c1' }, 'added\\ntwice'); log.debug('unseen')`)
  t.equal(lines.length, 1)
  t.match(lines[0], { level: 'info', node: 'worker-1', containerId: 'c1', msg: 'added\ntwice' })
  t.match(lines[0]?.['time'], /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)
})

t.test('what a line advises works where the daemon runs', async t => {
  const script = `import { Problem } from ${JSON.stringify(problem)}
const log = createLogger('info', 'worker-1', text => text.toUpperCase())
log.warn({ hint: 'type a', code: 'b' }, 'c')
log.child({}).warn({ err: new Problem('IPK_POOL_FULL', 'd', { hint: 'type e' }) }, 'f')`
  const program = `import { createLogger } from ${JSON.stringify(logger)}\n${script}`
  const { stderr } = await runProgram(process.execPath, ['--input-type=module', '-e', program])
  const [first, second] = stderr.split('\n').map(line => (line === '' ? {} : (JSON.parse(line) as object)))
  t.match(first, { hint: 'TYPE A', code: 'b', msg: 'c' })
  t.match(second, { err: { hint: 'TYPE E', message: 'd' }, msg: 'f' })
})

t.test('an error is never {}', async t => {
  const [line] = await logged(
    'warn',
    `log.warn({ err: new Error('disk full', { cause: new Error('ENOSPC') }) }, 'failed')`,
  )
  t.match(line, {
    level: 'warn',
    msg: 'failed',
    err: { type: 'Error', message: /disk full/, stack: /ENOSPC/ },
  })
})

t.test(
  'a problem is told with its hint, and where it was thrown only if that is a fault of the code',
  async t => {
    const lines = await logged(
      'warn',
      `const { Problem } = await import(${JSON.stringify(problem)})
const cause = new Error('ENOENT')
log.warn({ err: new Problem('IPK_POOL_UNKNOWN', 'there is no pool x', { hint: 'see: y', cause }) }, 'failed')
log.warn({ err: new Problem('IPK_INTERNAL', 'internal error: x', { cause }) }, 'failed')`,
    )
    const told = {
      type: 'Problem',
      code: 'IPK_POOL_UNKNOWN',
      message: 'there is no pool x: ENOENT',
      hint: 'see: y',
    }
    t.match(lines[0]?.['err'], told)
    t.notMatch(JSON.stringify(lines[0]), /"stack"/)
    t.match(lines[1]?.['err'], { code: 'IPK_INTERNAL', stack: /ENOENT/ })
  },
)

t.test('nothing is lost at an end without warning', async t => {
  const lines = await logged(
    'trace',
    `for (let i = 0; i < 2000; i++) log.trace({ i }, 'x'.repeat(100)); process.exit(3)`,
  )
  t.equal(lines.length, 2000)
  t.equal(lines.at(-1)?.['i'], 1999)
})

t.test('a log that cannot be written ends nothing, and grows without end nowhere', async t => {
  const program = `import { createLogger } from ${JSON.stringify(logger)}
const log = createLogger('info', 'worker-1')
const before = process.memoryUsage().rss
for (let nth = 0; nth < 100_000; nth++) log.info({ nth, text: 'x'.repeat(500) }, 'lost')
await new Promise(resolve => setTimeout(resolve, 50))
console.log((process.memoryUsage().rss - before) / 2 ** 20 < 100 ? 'well' : 'it grows')`
  const { exit, stdout } = await runProgram('sh', [
    ...['-c', '"$0" --input-type=module -e "$1" 2>/dev/full'],
    ...[process.execPath, program],
  ])
  t.equal(exit, 0)
  t.equal(stdout, 'well\n')
})

import { chmodSync, closeSync, existsSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t from 'tap'
import { tools } from '../../../ipkeeper-server/network/plan/tools.ts'
import { findTool, runTool } from '../../../ipkeeper-server/network/run-tool.ts'
import { findProgram } from '../../rigs/find-program.ts'
import { startInNewNamespace } from '../../rigs/namespace-process.ts'
import { until } from '../../rigs/poll.ts'
import { startPrivateHost } from '../../rigs/private-host.ts'
import { missing } from '../../rigs/requirements.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

/** Stands in for nft: does what its first argument says. */
const program = `#!/bin/sh
what=$1
shift
case $what in
  argv) printf '[%s]' "$@" ;;
  env) env | sort; pwd ;;
  read) cat ;;
  deaf) exit 4 ;;
  fail) echo out; echo why >&2; exit 3 ;;
  die) kill -9 $$ ;;
  flood) head -c 20000000 /dev/zero | tr '\\0' x ;;
  sleep) echo $$ >"$1"; exec sleep 60 ;;
  inside) stat -L -c %i /proc/self/ns/net ;;
  beside) stat -L -c %i /proc/self/ns/net /proc/self/fd/3 ;;
esac
`
const folder = t.testdir({ nft: program, elsewhere: { tee: '#!/bin/sh\n' } })
chmodSync(join(folder, 'nft'), 0o755)
chmodSync(join(folder, 'elsewhere', 'tee'), 0o755)
const systemPath = process.env['PATH'] ?? ''
process.env['PATH'] = [relative(process.cwd(), join(folder, 'elsewhere')), folder, systemPath].join(':')

const run = (args: readonly string[], more: Partial<Parameters<typeof runTool>[0]> = {}) =>
  runTool({ tool: 'nft', args, ...more })

t.test('arguments arrive as they are: there is no shell', async t => {
  const args = ['$(id)', '`id`', '; id', 'a b', '', '*', '"', "'", '\\', '\n', '-x', 'größe', '$HOME', '~']
  const { exit, stdout } = await run(['argv', ...args])
  t.equal(exit, 0)
  t.equal(stdout, args.map(arg => `[${arg}]`).join(''))
})

t.test('nothing of the environment of the daemon arrives', async t => {
  process.env['SOME_TOKEN'] = 'secret'
  t.teardown(() => delete process.env['SOME_TOKEN'])
  const { stdout } = await run(['env'])
  const lines = stdout.trim().split('\n')
  t.equal(lines.pop(), '/', 'nor its folder')
  // What the shell adds; and the runner of the tests, to whatever they start, in a value of many lines.
  const own = lines.filter(
    line => /^\w+=/.test(line) && !/^(PWD|OLDPWD|SHLVL|_|NODE_OPTIONS|_TAPJS\w*)=/.test(line),
  )
  t.strictSame(own, ['LC_ALL=C', 'PATH=/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin:/usr/local/bin'])
})

t.test('how a program ends', async t => {
  const long = 'x'.repeat(1_000_000)
  for (const [what, args, input, expected] of [
    ['its input', ['read'], 'größe\n', { exit: 0, stdout: 'größe\n', stderr: '' }],
    ['much of it', ['read'], long, { exit: 0, stdout: long, stderr: '' }],
    ['none', ['read'], undefined, { exit: 0, stdout: '', stderr: '' }],
    ['one that reads nothing', ['deaf'], long, { exit: 4, stdout: '', stderr: '' }],
    ['an exit code is an answer', ['fail'], undefined, { exit: 3, stdout: 'out\n', stderr: 'why\n' }],
  ] as const)
    t.strictSame(await run(args, input === undefined ? {} : { input }), expected, what)

  const flood = await run(['flood'])
  t.equal(flood.exit, 0)
  t.ok(flood.stdout.length >= 8 * 2 ** 20 && flood.stdout.length < 9 * 2 ** 20, 'too much is cut off')

  t.match(await thrownProblem(() => run(['die'])), {
    code: 'IPK_WIRING_FAILED',
    message: 'nft die: ended by SIGKILL',
  })
})

t.test('one that does not end is killed', async t => {
  const pidFile = join(folder, 'pid')
  const started = performance.now()
  const problem = await thrownProblem(() => run(['sleep', pidFile], { timeoutMs: 300 }))
  t.match(problem, { code: 'IPK_WIRING_FAILED', message: /^nft sleep .*: no end within 0\.3 s$/ })
  t.ok(performance.now() - started < 10_000, 'in time')
  const pid = readFileSync(pidFile, 'utf8').trim()
  await t.resolves(until('its end', () => !existsSync(`/proc/${pid}`)))
})

t.test('namespaces', { skip: missing('namespaces') }, async t => {
  const { path } = await startInNewNamespace(t)
  const fd = openSync(path, 'r')
  t.teardown(() => {
    closeSync(fd)
  })
  const other = String(fstatSync(fd).ino)
  const own = (await run(['inside'])).stdout.trim()
  t.not(own, other)
  t.equal((await run(['inside'], { inside: fd })).stdout.trim(), other, 'inside')
  t.strictSame((await run(['beside'], { beside: fd })).stdout.trim().split('\n'), [own, other], 'beside')
  const args = ['$(id)', 'a b', '--net=/proc/1/ns/net']
  t.equal(
    (await run(['argv', ...args], { inside: fd })).stdout,
    args.map(arg => `[${arg}]`).join(''),
    'nsenter takes no argument of the program for its own',
  )
  t.equal((await run(['fail'], { inside: fd })).exit, 3)
})

t.test('where programs are found', t => {
  t.equal(findTool('nft'), join(folder, 'nft'))
  t.notMatch(findTool('tee'), 'elsewhere', 'never in a folder that is not absolute')
  t.ok(findTool('tee')?.startsWith('/'))
  writeFileSync(join(folder, 'bridge'), '#!/bin/sh\n')
  t.not(findTool('bridge'), join(folder, 'bridge'), 'nor a file that is no program')
  t.end()
})

t.test('one that is not installed', { skip: missing('namespaces') }, async t => {
  const host = await startPrivateHost()
  t.teardown(() => host.close())
  const module = join(import.meta.dirname, '../../../ipkeeper-server/network/run-tool.ts')
  for (const tool of ['tee', 'nsenter'] as const) {
    const installed = findProgram(tool) ?? ''
    t.ok(existsSync(installed))
    // A file that cannot be executed lies over it, on this host alone, until the program takes it away.
    await host.must('mount', ['--bind', '/dev/null', installed])
    const script = `
      import { spawnSync } from 'node:child_process'
      import { findTool, runTool } from ${JSON.stringify(module)}
      const problem = await runTool({ tool: ${JSON.stringify(tool)}, args: [] }).catch(error => error)
      spawnSync('umount', [${JSON.stringify(installed)}])
      console.log(JSON.stringify({ code: problem.code, message: problem.message, hint: problem.hint }))
      console.log(findTool(${JSON.stringify(tool)}))
    `
    // No folder of ours on the way.
    const env = { PATH: dirname(installed) }
    const said = await host.must(process.execPath, ['--input-type=module', '-e', script], { env })
    const [problem = '', found] = said.trim().split('\n')
    t.strictSame(JSON.parse(problem), {
      code: 'IPK_TOOL_MISSING',
      message: `${tool} is not installed where ipkeeper-server runs`,
      hint: `apt-get install ${tools[tool]} (or add it to the image of the daemon)`,
    })
    t.equal(found, installed, 'and found when it is installed meanwhile')
  }
})

/**
 * The packaged plugin from outside: what a runtime gives it, what it prints, how it ends. The daemon is a socket of
 * the test's own; what happens when it misbehaves is in test/faults.
 */
import t from 'tap'
import {
  askedOf,
  attachment,
  configFor,
  good,
  listenFor,
  plugin,
  result,
  type ErrorDocument,
} from '../rigs/plugin-under-fault.ts'
import { missing } from '../rigs/requirements.ts'
import { runPlugin, type PluginCall } from '../rigs/run-plugin.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'

const skip = missing('executables')

const call = (command: string, config: unknown, more: Partial<PluginCall> = {}): Promise<Finished> =>
  runPlugin({ plugin, command, ...attachment, config, ...more })

const documentOf = (finished: Finished): ErrorDocument => JSON.parse(finished.stdout) as ErrorDocument

t.test('answers', { skip }, async t => {
  const daemon = await listenFor(t, good)
  const added = await call('ADD', configFor(daemon.path))
  t.equal(added.exit, 0)
  t.equal(added.stderr, '')
  t.same(JSON.parse(added.stdout), result)
  t.match(added.stdout, /^\{\n[^]*\}\n$/, 'one document, one newline')
  for (const verb of ['CHECK', 'DEL', 'GC', 'STATUS']) {
    const finished = await call(verb, configFor(daemon.path))
    t.match(finished, { exit: 0, stdout: '', stderr: '' }, verb)
  }
  t.same(askedOf(daemon), ['ADD', 'CHECK', 'DEL', 'GC', 'STATUS'])
  const [first, second] = daemon.requests.map(request => JSON.parse(request.body) as Record<string, unknown>)
  t.match(first, { ...attachment, invocationId: /^[0-9a-f-]{36}$/, bootId: /^[0-9a-f-]{36}$/, args: '' })
  t.not(first?.['invocationId'], second?.['invocationId'])
  t.ok(Number(second?.['startedAt']) > Number(first?.['startedAt']), 'startedAt is of one clock')
  const fromEnv = await call(
    'STATUS',
    { cniVersion: '1.1.0', name: 'a' },
    { env: { IPKEEPER_SOCKET: daemon.path } },
  )
  t.equal(fromEnv.exit, 0)
})

t.test('version, for people', { skip }, async t => {
  const shown = await runProgram(plugin, ['--version'], { env: {} })
  t.match(shown, {
    exit: 0,
    stderr: '',
    stdout: /^ipkeeper \d+\.\d+\.\d+ \(commit [0-9a-f]{12}(-dirty)?\)\n$/,
  })
  // A runtime's call is a runtime's call, whatever words stand behind it.
  const called = await runProgram(plugin, ['--version'], { env: { CNI_COMMAND: 'FROBNICATE' } })
  t.match(called, { exit: 1, stdout: /^\{/ })
})

t.test("the plugin's own network namespace", { skip }, async t => {
  const daemon = await listenFor(t, good)
  const own = { netns: '/proc/self/ns/net' }
  const refused = await call('ADD', configFor(daemon.path), own)
  t.match(documentOf(refused), {
    code: 8,
    msg: "plugin's netns and netns from CNI_NETNS should not be the same",
  })
  t.equal(daemon.accepted(), 0)
  for (const env of [{ CNI_NETNS_OVERRIDE: '1' }, { CNI_NETNS_OVERRIDE: 'true' }]) {
    t.equal((await call('ADD', configFor(daemon.path), { ...own, env })).exit, 0)
  }
  t.match(await call('DEL', configFor(daemon.path), own), { exit: 0, stdout: '' })
})

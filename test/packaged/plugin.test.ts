/**
 * The packaged plugin from outside: what a runtime gives it, what it prints, how it ends. The daemon is a socket of
 * the test's own, so that it can misbehave.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readdirSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { supportedVersions } from '../../shared/cni/versions.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { ownStateDir, runPlugin, type PluginCall } from '../rigs/run-plugin.ts'
import type { Finished } from '../rigs/run-program.ts'
import {
  leaveStaleSocket,
  listenScripted,
  replyText,
  type Script,
  type ScriptedSocket,
} from '../rigs/scripted-socket.ts'
import { makeTempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')
const plugin = join(distFolder, 'ipkeeper')
const folder = makeTempFolder()
t.teardown(() => {
  folder.remove()
})

let names = 0
const newPath = (): string => folder.file(`${++names}.sock`)

interface ErrorDocument {
  readonly cniVersion: string
  readonly code: number
  readonly msg: string
  readonly details?: string
}

const attachment = {
  containerId: 'c1',
  netns: '/some/where',
  ifname: 'eth0',
  path: '/opt/cni/bin',
}

const configFor = (socket: string, more: object = {}, version = '1.1.0'): object => ({
  cniVersion: version,
  name: 'fixed',
  type: 'bridge',
  ipam: { type: 'ipkeeper', socket, timeout: 20, ...more },
})

const call = (command: string, config: unknown, more: Partial<PluginCall> = {}): Promise<Finished> =>
  runPlugin({ plugin, command, ...attachment, config, ...more })

const documentOf = (finished: Finished): ErrorDocument => JSON.parse(finished.stdout) as ErrorDocument

const done = { requestId: 'r-1', stateDir: ownStateDir() }
const result = {
  cniVersion: '1.1.0',
  ips: [{ address: '10.22.0.50/16', gateway: '10.22.0.1' }],
  routes: [{ dst: '0.0.0.0/0' }],
}
const isAdd = (head: string): boolean => head.startsWith('POST /v1/cni/add ')
const good: Script = (connection, { head }) => {
  connection.write(replyText(200, isAdd(head) ? { ...done, result } : done))
}

/** A daemon for one test. */
async function listen(t: Test, script: Script): Promise<ScriptedSocket & { readonly path: string }> {
  const path = newPath()
  const server = await listenScripted(path, script)
  t.teardown(() => server.close())
  return { ...server, path }
}

const pathsOf = (server: ScriptedSocket): string[] =>
  server.requests.map(({ head }) => head.split(' ')[1] ?? '')

/** The plugin as a process that the test can signal, feed and read as it likes. */
function begin(
  command: string,
  stdout: 'pipe' | number = 'pipe',
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  return spawn(plugin, [], {
    stdio: ['pipe', stdout, 'pipe'],
    env: {
      ...environment(command),
      ...env,
    },
    timeout: 30_000,
    killSignal: 'SIGKILL',
  })
}

async function collect(stream: Readable | null): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream ?? []) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const ending = async (child: ChildProcess): Promise<number | null> => {
  const [code] = (await once(child, 'close')) as [number | null]
  return code
}

interface GoldenCase {
  readonly id: number
  readonly title: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin: string
  readonly stdin_hex: string | null
  readonly exit: number
  readonly stdout: { readonly code?: number; readonly msg?: string; readonly details?: string } | null
}

t.test('recorded cases of the reference that need no daemon', { skip }, async t => {
  const file = join(import.meta.dirname, '..', 'fixtures', 'conformance', 'golden.json')
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: readonly GoldenCase[] }
  const protocol = new Set([1, 4, 5, 6, 7])
  const chosen = cases.filter(({ env, stdout }) => {
    const verb = env['CNI_COMMAND'] ?? ''
    return verb === '' || verb === 'VERSION' || protocol.has(stdout?.code ?? 0)
  })
  t.ok(chosen.length >= 25, `${chosen.length} cases`)
  for (const { id, title, env, stdin, stdin_hex, exit, stdout } of chosen) {
    await t.test(`${id} ${title.slice(0, 60)}`, async t => {
      const input = stdin_hex === null ? stdin : Buffer.from(stdin_hex, 'hex').toString('latin1')
      const finished = await runPlugin({ plugin, command: '', config: input, env })
      t.equal(finished.exit, exit)
      if (stdout === null) {
        t.equal(finished.stdout, '')
        return
      }
      const printed = JSON.parse(finished.stdout) as ErrorDocument
      if (stdout.code === undefined) {
        t.same(printed, stdout)
        return
      }
      t.equal(printed.code, stdout.code)
      const decoder = 'error unmarshall network config: '
      if (stdout.msg?.startsWith(decoder)) t.ok(printed.msg.startsWith(decoder))
      else t.equal(printed.msg, stdout.msg)
      if (stdout.details !== undefined) t.ok(printed.details?.endsWith(stdout.details))
    })
  }
})

t.test('answers', { skip }, async t => {
  const daemon = await listen(t, good)
  const added = await call('ADD', configFor(daemon.path))
  t.equal(added.exit, 0)
  t.equal(added.stderr, '')
  t.same(JSON.parse(added.stdout), result)
  t.match(added.stdout, /^\{\n[^]*\}\n$/, 'one document, one newline')
  for (const verb of ['CHECK', 'DEL', 'GC', 'STATUS']) {
    const finished = await call(verb, configFor(daemon.path))
    t.match(finished, { exit: 0, stdout: '', stderr: '' }, verb)
  }
  t.same(
    pathsOf(daemon),
    ['add', 'check', 'del', 'gc', 'status'].map(verb => `/v1/cni/${verb}`),
  )
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

t.test('the daemon is not there', { skip }, async t => {
  const stale = newPath()
  leaveStaleSocket(stale)
  for (const [path, why] of [
    [newPath(), 'there is no such socket'],
    [stale, 'nobody listens on the socket'],
  ] as const) {
    for (const verb of ['ADD', 'CHECK', 'GC', 'STATUS']) {
      const finished = await call(verb, configFor(path, { timeout: 0.4 }))
      const document = documentOf(finished)
      t.equal(finished.exit, 1)
      t.equal(document.code, verb === 'STATUS' ? 50 : 11, verb)
      t.equal(document.msg, `cannot reach ipkeeper-server on ${path}: ${why}`, verb)
      t.match(document.details, 'systemctl start ipkeeper', verb)
      t.notMatch(finished.stdout, /not found|no such file or directory/i, verb)
    }
  }
})

t.test('a DEL without a daemon is queued; where it cannot be, it fails', { skip }, async t => {
  const stateDir = folder.file('no-daemon')
  const queued = await call('DEL', configFor(newPath(), { stateDir }))
  t.match(queued, { exit: 0, stdout: '', stderr: /is queued in/ })
  const [name = ''] = readdirSync(`${stateDir}/deferred-dels`)
  t.match(JSON.parse(readFileSync(`${stateDir}/deferred-dels/${name}`, 'utf8')), {
    version: 1,
    request: { containerId: 'c1', ifname: 'eth0', config: { name: 'fixed' } },
  })
  writeFileSync(folder.file('a-file'), '')
  const failed = await call('DEL', configFor(newPath(), { stateDir: folder.file('a-file') }))
  t.equal(failed.exit, 1)
  t.match(documentOf(failed), { code: 11, msg: /cannot be queued in/, details: /systemctl start ipkeeper/ })
  t.notMatch(failed.stdout, /not found|no such file or directory/i)
})

t.test('the daemon comes while an ADD waits', { skip }, async t => {
  const path = newPath()
  const waiting = call('ADD', configFor(path))
  await delay(150)
  const server = await listenScripted(path, good)
  t.teardown(() => server.close())
  t.same(JSON.parse((await waiting).stdout), result)
})

t.test('the daemon is killed in the middle of its reply', { skip }, async t => {
  const whole = replyText(200, { ...done, result })
  const daemon = await listen(t, connection => {
    connection.write(whole.slice(0, -20), () => {
      void daemon.close()
    })
  })
  const finished = await call('ADD', configFor(daemon.path, { timeout: 0.4 }))
  t.equal(finished.exit, 1)
  t.match(documentOf(finished), { code: 11, msg: /ipkeeper-server on/ })

  const restarted = await listen(t, (connection, request) => {
    if (request.nth === 0) connection.end(whole.slice(0, 40))
    else good(connection, request)
  })
  t.same(JSON.parse((await call('ADD', configFor(restarted.path))).stdout), result)
  t.equal(restarted.requests[0]?.body, restarted.requests[1]?.body, 'sent again as it was')
})

t.test('the daemon answers rubbish', { skip }, async t => {
  const rubbish: readonly [name: string, text: string][] = [
    ['500 {}', replyText(500, {})],
    ['200 without a body', replyText(200, '')],
    ['200 null', replyText(200, null)],
    ['200 {}', replyText(200, {})],
    ['HTML', '<html>'],
    ['HTML in HTTP', replyText(200, '<html>')],
    ['two documents', replyText(200, { ...done, result }) + replyText(200, { ...done, result })],
    [
      'a version that was not asked for',
      replyText(200, { ...done, result: { ...result, cniVersion: '1.0.0' } }),
    ],
    ['a result without addresses', replyText(200, { ...done, result: { cniVersion: '1.1.0' } })],
    ['100 MB', 'HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n'],
  ]
  for (const [name, text] of rubbish) {
    const daemon = await listen(t, connection => {
      connection.end(text)
    })
    const finished = await call('ADD', configFor(daemon.path))
    t.equal(finished.exit, 1, name)
    t.match(
      documentOf(finished),
      { cniVersion: '1.1.0', code: 11, details: /IPK_DAEMON_REPLY_INVALID/ },
      name,
    )
  }
})

t.test('the daemon says nothing', { skip }, async t => {
  const daemon = await listen(t, () => undefined)
  const finished = await call('ADD', configFor(daemon.path, { timeout: 0.4 }))
  t.match(documentOf(finished), { code: 11, msg: /did not answer ADD within/ })
  await daemon.quiet()
  t.same(pathsOf(daemon), ['/v1/cni/add'])
})

t.test('signals, with a stdin that never ends', { skip }, async t => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const child = begin('ADD')
    const printed = collect(child.stdout)
    const ended = ending(child)
    child.stdin?.write('{"cniVersion":"1.0.0",')
    // Before its first line of JavaScript a signal ends it as it ends any process.
    await untilItHandlesSignals(child)
    child.kill(signal)
    t.equal(await ended, 1, signal)
    t.match(JSON.parse(await printed), {
      code: 11,
      msg: `interrupted by ${signal} before the outcome was known`,
    })
  }
})

t.test('SIGTERM while the daemon works: the connection is dropped', { skip }, async t => {
  const asked = Promise.withResolvers<undefined>()
  const daemon = await listen(t, () => {
    asked.resolve(undefined)
  })
  const child = begin('ADD')
  const printed = collect(child.stdout)
  const ended = ending(child)
  child.stdin?.end(JSON.stringify(configFor(daemon.path, {}, '0.4.0')))
  await asked.promise
  child.kill('SIGTERM')
  t.equal(await ended, 1)
  t.match(JSON.parse(await printed), { cniVersion: '0.4.0', code: 11 })
  await daemon.quiet()
  t.same(pathsOf(daemon), ['/v1/cni/add'])
})

/** SigCgt of /proc says which signals a process handles; Node itself handles the others, SIGHUP is the plugin's. */
async function untilItHandlesSignals(child: ChildProcess): Promise<void> {
  const hangUp = 1n
  for (;;) {
    const status = readFileSync(`/proc/${child.pid ?? 0}/status`, 'latin1')
    const caught = BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
    if ((caught & hangUp) !== 0n) return
    await delay(2)
  }
}

t.test('stdin', { skip }, async t => {
  const closed = spawnSync('/bin/sh', ['-c', 'exec "$0" <&-', plugin], { env: environment('ADD') })
  t.match(JSON.parse(closed.stdout.toString()), { code: 5, msg: /^error reading from stdin: / }, 'closed')
  const asFolder = spawnSync('/bin/sh', ['-c', 'exec "$0" </', plugin], { env: environment('ADD') })
  t.match(JSON.parse(asFolder.stdout.toString()), { code: 5 }, 'a folder')
  const empty = spawnSync('/bin/sh', ['-c', 'exec "$0" </dev/null', plugin], { env: environment('ADD') })
  t.match(JSON.parse(empty.stdout.toString()), { code: 6 }, 'empty')

  const daemon = await listen(t, good)
  const padded = { ...configFor(daemon.path), padding: 'x'.repeat(10_000_000) }
  const large = await call('ADD', padded)
  t.same(JSON.parse(large.stdout), result, '10 MB')
  t.match(documentOf(await call('ADD', 'x'.repeat(17 * 1024 * 1024))), {
    code: 5,
    msg: /more than 16777216 bytes/,
  })
  t.match(documentOf(await call('ADD', '\u0000\u0001\u0002{')), { code: 6 })
  const file = t.testdir({ config: JSON.stringify(configFor(daemon.path)) })
  const fromFile = spawnSync('/bin/sh', ['-c', 'exec "$0" <"$1"', plugin, join(file, 'config')], {
    env: environment('VERSION'),
  })
  t.match(JSON.parse(fromFile.stdout.toString()), { cniVersion: '1.1.0' }, 'a file')
})

t.test('a stdin that never ends', { skip }, async t => {
  for (const [verb, document] of [
    ['VERSION', { cniVersion: '1.1.0', supportedVersions }],
    ['STATUS', { code: 5, msg: /^error reading from stdin: no end of it within 2 s/ }],
  ] as const) {
    const child = begin(verb)
    const printed = collect(child.stdout)
    const ended = ending(child)
    t.equal(await ended, verb === 'VERSION' ? 0 : 1, verb)
    t.match(JSON.parse(await printed), document, verb)
  }
})

const environment = (command: string): Record<string, string> => ({
  CNI_COMMAND: command,
  IPKEEPER_STATE_DIR: ownStateDir(),
  CNI_CONTAINERID: attachment.containerId,
  CNI_NETNS: attachment.netns,
  CNI_IFNAME: attachment.ifname,
  CNI_PATH: attachment.path,
})

const long = {
  ...result,
  routes: Array.from({ length: 5000 }, (_, n) => ({ dst: `10.${n >> 8}.${n & 255}.0/24` })),
}
const longDaemon: Script = (connection, { head }) => {
  connection.write(replyText(200, isAdd(head) ? { ...done, result: long } : done))
}

t.test('a slow reader gets a long result whole', { skip }, async t => {
  const daemon = await listen(t, longDaemon)
  const child = spawn('/bin/sh', ['-c', 'cat | "$0" | { sleep 0.3; cat; }', plugin], {
    env: { PATH: '/bin:/usr/bin', ...environment('ADD') },
  })
  child.stdin.end(JSON.stringify(configFor(daemon.path)))
  const printed = await collect(child.stdout)
  t.ok(printed.length > 200_000, `${printed.length} characters`)
  t.same(JSON.parse(printed), long)
})

t.test('also through a pipe that does not block', { skip }, async t => {
  const daemon = await listen(t, longDaemon)
  const fifo = folder.file('stdout')
  t.equal(spawnSync('mkfifo', [fifo]).status, 0)
  // Both ends in one: writes of the plugin get EAGAIN while the pipe is full.
  const pipe = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK)
  t.teardown(() => {
    closeSync(pipe)
  })
  // spawn would make a standard stream block again; a shell hands it on as it is.
  const child = spawn('/bin/sh', ['-c', 'exec "$0" >&3', plugin], {
    stdio: ['pipe', 'ignore', 'ignore', pipe],
    env: environment('ADD'),
    timeout: 30_000,
  })
  const state = { running: true }
  const ended = ending(child).finally(() => (state.running = false))
  child.stdin?.end(JSON.stringify(configFor(daemon.path)))
  const chunks: Buffer[] = []
  const take = (): boolean => {
    const chunk = Buffer.alloc(16_384)
    try {
      chunks.push(chunk.subarray(0, readSync(pipe, chunk)))
      return true
    } catch {
      return false
    }
  }
  while (state.running) {
    take()
    await delay(2)
  }
  while (take());
  t.equal(await ended, 0)
  t.same(JSON.parse(Buffer.concat(chunks).toString()), long)
})

t.test('an answer that nobody takes is undone', { skip }, async t => {
  const daemon = await listen(t, good)
  const full = openSync('/dev/full', 'w')
  t.teardown(() => {
    closeSync(full)
  })
  const child = begin('ADD', full)
  const stderr = collect(child.stderr)
  const ended = ending(child)
  child.stdin?.end(JSON.stringify(configFor(daemon.path)))
  t.equal(await ended, 1)
  t.match(await stderr, /cannot be written to stdout: .*ENOSPC/)
  t.same(pathsOf(daemon), ['/v1/cni/add', '/v1/cni/del'], '/dev/full')

  const reader: { close?: () => void } = {}
  const second = await listen(t, (connection, request) => {
    reader.close?.()
    // The other end of the pipe has to be closed before the answer comes.
    setTimeout(() => {
      good(connection, request)
    }, 20)
  })
  const abandoned = begin('ADD')
  reader.close = (): void => {
    abandoned.stdout?.destroy()
  }
  const code = once(abandoned, 'exit') as Promise<[number | null]>
  abandoned.stderr?.resume()
  abandoned.stdin?.end(JSON.stringify(configFor(second.path)))
  t.equal((await code)[0], 1)
  t.same(pathsOf(second), ['/v1/cni/add', '/v1/cni/del'], 'reader gone')
})

t.test('stderr does not matter', { skip }, async t => {
  const daemon = await listen(t, good)
  for (const redirection of ['2>&-', '2>/dev/full']) {
    const child = spawn('/bin/sh', ['-c', `exec "$0" ${redirection}`, plugin], { env: environment('ADD') })
    const printed = collect(child.stdout)
    const ended = ending(child)
    child.stdin.end(JSON.stringify(configFor(daemon.path)))
    t.equal(await ended, 0, redirection)
    t.same(JSON.parse(await printed), result, redirection)
  }
  const about = spawnSync('/bin/sh', ['-c', 'exec "$0" 2>&-', plugin], { env: {} })
  t.match([about.status, about.stdout.toString()], [0, ''])
})

t.test('the environment of Node does not reach in', { skip }, async t => {
  const daemon = await listen(t, good)
  const nonsense = {
    NODE_OPTIONS: '--no-such-option --require /nowhere.js',
    NODE_PATH: '/nowhere',
    NODE_DEBUG: 'net,fs',
    NODE_V8_COVERAGE: '',
    NODE_NO_WARNINGS: '0',
    NODE_PENDING_DEPRECATION: '1',
    NODE_EXTRA_CA_CERTS: '/nowhere.pem',
    UV_THREADPOOL_SIZE: '-1',
  }
  const finished = await call('ADD', configFor(daemon.path), { env: nonsense })
  t.equal(finished.exit, 0)
  t.same(JSON.parse(finished.stdout), result)
})

t.test("the plugin's own network namespace", { skip }, async t => {
  const daemon = await listen(t, good)
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

/** The packaged daemon and operator's tool as processes: words, exit codes, signals, two at once, restarts. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startDaemon, type Daemon } from '../rigs/daemon.ts'
import { distFolder, missing } from '../rigs/requirements.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { tempFolder, type TempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')
const server = join(distFolder, 'ipkeeper-server')
const control = join(distFolder, 'ipkeeperctl')

interface Site {
  readonly folder: TempFolder
  readonly socket: string
  readonly stateDir: string
  /** Starts a daemon here; it ends with the test at the latest. */
  readonly start: (more?: { readonly socket?: string; readonly stateDir?: string }) => Promise<Daemon>
  /** `ipkeeper-server serve` with the site's socket and state folder, to its end. */
  readonly serve: (...args: readonly string[]) => Promise<Finished>
}

function makeSite(t: Test): Site {
  const folder = tempFolder(t)
  const socket = folder.file('run', 's')
  const stateDir = folder.file('state')
  const running: Daemon[] = []
  t.teardown(async () => {
    for (const daemon of running) await daemon.stop('SIGKILL')
  })
  return {
    folder,
    socket,
    stateDir,
    start: async more => {
      const daemon = await startDaemon({ socket, stateDir, ...more })
      running.push(daemon)
      return daemon
    },
    serve: (...args) => {
      const places = Object.entries({ '--socket': socket, '--state-dir': stateDir })
      const own = places.filter(([name]) => !args.includes(name)).flat()
      return runProgram(server, ['serve', ...own, ...args], { env: {}, timeoutMs: 20_000 })
    },
  }
}

const request = (containerId: string) => ({
  containerId,
  netns: '/run/netns/none',
  ifname: 'eth0',
  args: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${containerId};K8S_POD_UID=u1`,
  path: '/opt/cni/bin',
  config: {
    cniVersion: '1.0.0',
    name: 'net',
    type: 'bridge',
    ipam: { type: 'ipkeeper', subnet: '10.22.0.0/24' },
  },
})

async function add(daemon: Daemon, containerId: string): Promise<string> {
  const { status, body } = await daemon.ask('POST', '/v1/cni/add', request(containerId))
  if (status !== 200) throw new Error(body)
  const { result } = JSON.parse(body) as { result: { ips: { address: string }[] } }
  return result.ips[0]?.address ?? ''
}

/** A refusal for people: one line that names the thing, details perhaps, then what to do. */
const refusal = /^error: .+ \[IPK_[A-Z_]+\]\n(  .+\n)?hint: .+\n$/

t.test('help and version', { skip }, async t => {
  for (const [ways, parts] of [
    [
      [['--help'], ['-h'], ['help']],
      ['serve', 'ctl COMMAND...', 'check-config [FILE]'],
    ],
    [
      [
        ['serve', '--help'],
        ['serve', '-h'],
        ['help', 'serve'],
      ],
      ['--socket', '--state-dir', '--config', '--store', '/run/ipkeeper/ipkeeper.sock'],
    ],
    [[['check-config', '--help']], ['FILE', '/etc/ipkeeper/config.yaml']],
  ] as const) {
    const help = await runProgram(server, ways[0])
    t.match(help, { exit: 0, stderr: '' })
    for (const part of parts) t.ok(help.stdout.includes(part), `${ways[0].join(' ')} names ${part}`)
    for (const words of ways) {
      const { exit, stdout, stderr } = await runProgram(server, words)
      t.strictSame({ exit, stdout, stderr }, { exit: 0, stdout: help.stdout, stderr: '' }, words.join(' '))
    }
  }
  for (const words of [['--version'], ['version']])
    t.match(await runProgram(server, words), {
      exit: 0,
      stdout: /^ipkeeper-server \d+\.\d+\.\d+ \(commit [0-9a-f]{12}(-dirty)?\)\n$/,
      stderr: '',
    })
})

t.test('called wrongly: exit 2, nothing started', { skip }, async t => {
  const { folder, serve } = makeSite(t)
  t.match(await runProgram(server, []), { exit: 2, stdout: '', stderr: /^ipkeeper-server .*\n\nUsage:/ })
  for (const [words, text] of [
    [['srve'], /unknown command "srve"; did you mean serve\?/],
    [['frobnicate'], /unknown command "frobnicate"/],
    [['-v'], /unknown option -v/],
    [['help', 'srve'], /unknown command "srve"; did you mean serve\?/],
  ] as const) {
    const { exit, stdout, stderr } = await runProgram(server, words)
    t.equal(exit, 2)
    t.equal(stdout, '')
    t.match(stderr, text)
    t.match(stderr, refusal)
  }
  for (const [words, text] of [
    [['--sokcet', 'x'], /unknown option --sokcet; did you mean --socket\?/],
    [['--config'], /--config needs a value/],
    [['--config', ''], /--config is empty/],
    [['--socket', ''], /--socket is empty/],
    [['--store', 'etcd:'], /--store etcd:: which endpoints\?/],
    [['--store', 'sqlite:'], /--store sqlite:: which file\?/],
    [['now'], /serve takes no arguments; got now/],
    [['--socket', folder.file('x'.repeat(100))], /is longer than 107 bytes/],
  ] as const) {
    const { exit, stdout, stderr } = await serve(...words)
    t.equal(exit, 2, words.join(' '))
    t.equal(stdout, '')
    t.match(stderr, text)
    t.match(stderr, refusal)
  }
})

t.test('cannot start: exit 1, and one clear line', { skip }, async t => {
  const { folder, serve } = makeSite(t)
  writeFileSync(folder.file('bad.yaml'), 'node: n1\nretenton: forever\n')
  writeFileSync(folder.file('file'), '')
  writeFileSync(folder.file('rubbish.db'), 'x'.repeat(4096))
  for (const [words, text] of [
    [
      ['--config', folder.file('bad.yaml')],
      'bad.yaml:2:1: unknown key "retenton"; did you mean "retention"?',
    ],
    [['--config', folder.file('none.yaml')], 'none.yaml: cannot be read (ENOENT)'],
    [['--state-dir', folder.file('file')], 'file cannot be made (EEXIST)'],
    [['--store', `sqlite:${folder.file('rubbish.db')}`], 'file is not a database'],
    [['--socket', folder.file('file')], 'exists and is no socket'],
    [['--socket', folder.file('file', 's')], /cannot listen on .* \(ENOTDIR\)/],
  ] as const) {
    const { exit, stdout, stderr } = await serve(...words)
    t.equal(exit, 1, words.join(' '))
    t.equal(stdout, '')
    t.match(stderr, text)
    // Fastify may have logged before; the last words are for the person.
    t.match(stderr.replace(/^\{.*\}\n/gm, ''), refusal)
    t.notMatch(stderr, /IPK_INTERNAL/)
    t.notMatch(stderr, /ipkeeperctl status/, 'nobody is there to be asked')
  }
})

t.test(
  'logs JSON lines with the node on stderr, and ends on SIGTERM or SIGINT with exit 0',
  { skip },
  async t => {
    const { folder, socket, stateDir } = makeSite(t)
    writeFileSync(folder.file('c.yaml'), 'node: worker-7\n')
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const daemon = await startDaemon({ socket, stateDir, config: folder.file('c.yaml') })
      await add(daemon, `c-${signal}`)
      t.equal(await daemon.stop(signal), 0, signal)
      const lines = daemon.log().trimEnd().split('\n')
      const parsed = lines.map(line => JSON.parse(line) as Record<string, unknown>)
      t.ok(
        parsed.every(line => line['node'] === 'worker-7' && typeof line['time'] === 'string'),
        'every line',
      )
      t.match(
        parsed.find(line => line['msg'] === 'added'),
        { containerId: `c-${signal}`, pod: `shop/c-${signal}` },
      )
      t.match(parsed.at(-1), { level: 'info', msg: 'stopped' })
      t.notOk(existsSync(socket), 'its socket is gone')
    }
  },
)

t.test('SIGTERM with a request under way: it is answered, durable, and the exit is 0', { skip }, async t => {
  const { socket, start } = makeSite(t)
  const daemon = await start()
  const body = JSON.stringify(request('late'))
  const connection = connect(socket)
  let received = ''
  connection.on('data', chunk => (received += chunk.toString()))
  const closed = new Promise(resolve => connection.once('close', resolve))
  connection.write(
    `POST /v1/cni/add HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body.slice(0, 50)}`,
  )
  // An answer on another connection proves that the daemon has read the first part as well.
  await daemon.ask('GET', '/v1/health')
  const stopping = daemon.stop('SIGTERM')
  while (!daemon.log().includes('"stopping"')) await delay(5)
  connection.write(body.slice(50))
  await closed
  t.match(received, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(received, /10\.22\.0\.2\/24/)
  t.equal(await stopping, 0)
  const again = await start()
  t.match(await again.boundLeases(), [{ address: '10.22.0.2', containerId: 'late' }])
})

t.test('a request that comes on an open connection while it stops is answered too', { skip }, async t => {
  const { socket, start } = makeSite(t)
  const daemon = await start()
  const connection = connect(socket)
  await new Promise(resolve => connection.once('connect', resolve))
  await daemon.ask('GET', '/v1/health')
  const stopping = daemon.stop('SIGTERM')
  while (!daemon.log().includes('"stopping"')) await delay(5)
  let received = ''
  connection.on('data', chunk => (received += chunk.toString()))
  connection.write('GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n')
  await new Promise(resolve => connection.once('close', resolve))
  t.match(received, /^HTTP\/1\.1 200 OK\r\n[^]*"status":"ok"/)
  t.equal(await stopping, 0)
})

t.test('clients that say nothing, or not all, do not hold it up for ever', { skip }, async t => {
  const { socket, start } = makeSite(t)
  const daemon = await start()
  const clients = ['', 'POST /v1/cni/add HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{'].map(text => {
    const client = connect(socket)
    client.on('error', () => undefined)
    client.write(text)
    return client
  })
  t.teardown(() => {
    for (const client of clients) client.destroy()
  })
  await daemon.ask('GET', '/v1/health')
  const started = performance.now()
  t.equal(await daemon.stop('SIGTERM'), 0)
  t.ok(performance.now() - started < 20_000, `${Math.round(performance.now() - started)} ms`)
})

t.test('SIGUSR1 opens no debugger', { skip }, async t => {
  const daemon = await makeSite(t).start()
  daemon.kill('SIGUSR1')
  await delay(100)
  t.equal((await daemon.ask('GET', '/v1/health')).status, 200)
  t.notMatch(daemon.log(), /Debugger listening/)
})

t.test('SIGTERM before it is ready is no crash: what it has begun it ends', { skip }, async t => {
  const { folder, socket, stateDir } = makeSite(t)
  const queue = join(stateDir, 'deferred-dels')
  mkdirSync(queue, { recursive: true })
  const total = 1000
  for (let index = 0; index < total; index++) {
    const del = { version: 1, queuedAt: '2026-01-01T00:00:00Z', request: request(`c${index}`) }
    writeFileSync(join(queue, `${index}.json`), JSON.stringify(del))
  }
  const script = `"$0" serve --socket "$1" --state-dir "$2" & echo $! > "$3"; wait $!`
  const ended = runProgram('sh', ['-c', script, server, socket, stateDir, folder.file('pid')], {
    timeoutMs: 60_000,
  })
  while (readdirSync(queue).length === total) await delay(2)
  t.notOk(existsSync(socket), 'it is not ready yet')
  spawnSync('sh', ['-c', `kill -TERM $(cat "$0")`, folder.file('pid')])
  const { exit, signal } = await ended
  t.strictSame({ exit, signal }, { exit: 0, signal: null })
  t.strictSame(readdirSync(queue), [])
})

t.test('what the daemon writes is its own to read', { skip }, async t => {
  const { stateDir, start } = makeSite(t)
  mkdirSync(stateDir, { mode: 0o755 })
  const daemon = await start()
  await add(daemon, 'c1')
  for (const name of readdirSync(stateDir)) {
    const { mode } = statSync(join(stateDir, name))
    t.equal(mode & 0o077, 0, name)
  }
  t.equal(await daemon.stop(), 0)
})

t.test('a second daemon is refused, and the first goes on', { skip }, async t => {
  const { folder, socket, stateDir, start, serve } = makeSite(t)
  const first = await start()
  await add(first, 'c1')
  const sameSocket = await serve('--state-dir', folder.file('other'))
  t.equal(sameSocket.exit, 1)
  t.ok(
    sameSocket.stderr.includes(`error: another daemon answers on ${socket} [IPK_SOCKET_IN_USE]`),
    sameSocket.stderr,
  )
  t.match(sameSocket.stderr, /hint: stop the other daemon, or give this one another --socket and --state-dir/)
  t.notOk(existsSync(folder.file('other')), 'no state folder is made for it')
  const sameState = await serve('--socket', folder.file('other.s'))
  t.equal(sameState.exit, 1)
  t.ok(sameState.stderr.includes(`error: state folder ${stateDir} is in use by another ipkeeper-server`))
  t.match(sameState.stderr, /hint: stop the other ipkeeper-server, or give this one another --state-dir/)
  const otherStore = await serve('--socket', folder.file('other.s'), '--store', 'memory:')
  t.equal(otherStore.exit, 1, 'the queue of DELs in the state folder has one reader, whatever the store')
  t.match(otherStore.stderr, /is in use by another ipkeeper-server/)
  const store = ['--store', `sqlite:${join(stateDir, 'leases.db')}`]
  const sameStore = await serve(
    '--socket',
    folder.file('other.s'),
    '--state-dir',
    folder.file('other'),
    ...store,
  )
  t.equal(sameStore.exit, 1)
  t.ok(sameStore.stderr.includes(`error: store ${join(stateDir, 'leases.db')} is in use by another process`))
  t.notOk(existsSync(folder.file('other.s')))
  t.match(await first.boundLeases(), [{ containerId: 'c1' }])
  t.equal(await first.stop(), 0)
})

t.test('a restart keeps leases, reservations and what rests', { skip }, async t => {
  const { start } = makeSite(t)
  let daemon = await start()
  for (const container of ['c1', 'c2']) await add(daemon, container)
  await daemon.ask('POST', '/v1/cni/del', request('c2'))
  await daemon.control('reserve', '10.22.0.9', 'shop/db-0')
  const before = await daemon.leases()
  t.strictSame(
    before.map(lease => lease.state),
    ['bound', 'cooling'],
  )
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    t.equal(await daemon.stop(signal), signal === 'SIGTERM' ? 0 : null)
    daemon = await start()
    t.strictSame(await daemon.leases(), before, `after ${signal}`)
    t.match((await daemon.control('reservations')).stdout, /10\.22\.0\.9 +default +shop\/db-0/)
  }
  t.equal(await add(daemon, 'c3'), '10.22.0.4/24', 'what rests is still left alone')
})

t.test('a DEL that was queued while no daemon ran is carried out before the first ADD', { skip }, async t => {
  const { stateDir, start } = makeSite(t)
  const first = await start()
  await add(first, 'c1')
  await first.stop()
  const del = { version: 1, queuedAt: '2026-01-01T00:00:00Z', request: request('c1') }
  writeFileSync(join(stateDir, 'deferred-dels', 'one.json'), JSON.stringify(del))
  const second = await start()
  t.strictSame(await second.boundLeases(), [])
  t.strictSame(readdirSync(join(stateDir, 'deferred-dels')), [])
})

t.test('ipkeeperctl is the same executable by another name', { skip }, async t => {
  const { folder, socket, start } = makeSite(t)
  const daemon = await start()
  await add(daemon, 'c1')
  symlinkSync(server, folder.file('ipkeeperctl'))
  const words = ['leases', '-o', 'json', '--socket', socket]
  const wanted = await runProgram(control, words)
  t.equal(wanted.exit, 0)
  const { stdout } = wanted
  t.match(JSON.parse(stdout), { leases: [{ address: '10.22.0.2', containerId: 'c1' }] })
  t.match(
    await runProgram(folder.file('ipkeeperctl'), words),
    { exit: 0, stdout, stderr: '' },
    'a symlink elsewhere',
  )
  t.match(await runProgram(server, ['ctl', ...words]), { exit: 0, stdout, stderr: '' }, 'ipkeeper-server ctl')
  const env = { PATH: `${folder.path}:/usr/bin:/bin` }
  t.match(
    await runProgram('sh', ['-c', `ipkeeperctl ${words.join(' ')}`], { env }),
    { exit: 0, stdout },
    'by PATH',
  )
  t.match(await runProgram(control, ['--version']), { exit: 0, stdout: /^ipkeeperctl \d/ })
  t.match(await runProgram(control, ['serve']), { exit: 2, stderr: /unknown command "serve"/ })
  t.match(await runProgram(control, ['leases', '--socket', folder.file('none')]), {
    exit: 1,
    stderr: /there is no such socket.*\[IPK_DAEMON_UNREACHABLE\]/,
  })
})

t.test('output that cannot be written is an error, a reader that has gone is not', { skip }, async t => {
  const full = await runProgram('sh', ['-c', `"$0" --help >/dev/full`, control])
  t.match(full, { exit: 1, stderr: 'error: cannot write to stdout (ENOSPC)\n' })
  const gone = await runProgram('sh', ['-c', `{ "$0" --help; echo $? >&2; } | true`, control])
  t.equal(gone.stderr, '0\n')
})

/** What the daemon is reached by, on a packaged one: files that go away, clients that are slow, odd, or sent by others. */
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, type NetConnectOpts } from 'node:net'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { queueDel } from '../../plugin/deferred-del.ts'
import type { ErrorReply } from '../../shared/api/cni.schema.ts'
import { askSocket, startDaemon } from '../rigs/daemon.ts'
import { freePort } from '../rigs/free-port.ts'
import { logs } from '../rigs/logs.ts'
import { until } from '../rigs/poll.ts'
import { closed, oddRequests, sendRaw } from '../rigs/raw-requests.ts'
import { missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')
// Most of the time they wait.
t.jobs = 2

async function startSurfaces(t: Test, configuration = '{}') {
  const folder = tempFolder(t)
  const [socket, stateDir, config] = ['run/s', 'state', 'c.yaml'].map(name => folder.file(name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(config, configuration)
  const daemon = await startDaemon({ socket, stateDir, config })
  t.teardown(() => daemon.stop('SIGKILL'))
  const request = {
    ...{ containerId: 'c1', netns: '/run/netns/none', ifname: 'eth0', args: '', path: '/opt/cni/bin' },
    config: {
      ...{ cniVersion: '1.0.0', name: 'net', type: 'bridge' },
      ipam: { type: 'ipkeeper', subnet: '10.22.0.0/24', socket, stateDir },
    },
  }
  const plugin = (command: string) =>
    runPlugin({
      ...{ plugin: testedPlugin, command, containerId: request.containerId },
      ...{ netns: request.netns, ifname: request.ifname, path: request.path, config: request.config },
      env: { IPKEEPER_STATE_DIR: stateDir },
    })
  return { daemon, socket, stateDir, request, plugin }
}

t.test('folders of the state folder that somebody took away', { skip, buffered: true }, async t => {
  const { daemon, stateDir, request, plugin } = await startSurfaces(t)
  t.equal((await plugin('ADD')).exit, 0)
  const folders = readdirSync(stateDir).filter(name => statSync(join(stateDir, name)).isDirectory())
  t.ok(folders.includes('deferred-dels'))
  for (const name of folders) rmSync(join(stateDir, name), { recursive: true, maxRetries: 10 })
  const { paths } = JSON.parse((await daemon.ask('GET', '/v1/openapi.json')).body) as {
    readonly paths: Readonly<Record<string, object>>
  }
  const plain = Object.entries(paths).filter(([path, verbs]) => 'get' in verbs && !path.includes('{'))
  t.ok(plain.length > 8, `${plain.length} paths are asked for`)
  for (const path of [...plain.map(([path]) => path), '/metrics']) {
    const { status, body } = await daemon.ask('GET', path === '/v1/search' ? `${path}?text=web` : path)
    // Some want to know of what.
    t.ok(status === 200 || (status === 400 && path === '/v1/history'), `${path}: ${status}`, { body })
  }
  const queue = join(stateDir, 'deferred-dels')
  await until('the queue is made anew', () => existsSync(queue))
  t.equal(statSync(queue).mode & 0o777, 0o700)
  const text = JSON.stringify({ version: 1, queuedAt: new Date().toISOString(), request })
  queueDel(stateDir, { name: 'c1.json', writer: 'w', text, brief: text })
  await until('and carried out', async () => (await daemon.boundLeases()).length === 0)
  t.equal((await plugin('ADD')).exit, 0, 'a mark finds its place again')
})

t.test('a socket that somebody took away', { skip, buffered: true }, async t => {
  const { daemon, socket, plugin } = await startSurfaces(t)
  for (const away of [socket, dirname(socket)]) {
    rmSync(away, { recursive: true })
    // The plugin waits for a daemon that is away.
    t.equal((await plugin('ADD')).exit, 0, `ADD after ${away} was removed`)
    t.equal((await plugin('DEL')).exit, 0)
    t.equal(statSync(socket).mode & 0o777, 0o600)
    t.equal(statSync(dirname(socket)).mode & 0o777, 0o700)
  }
  await logs(t, daemon, /the socket was removed by another process; it was created again/)
  t.equal(await daemon.stop(), 0, 'and it ends as ever')
  t.notOk(existsSync(socket))
})

t.test('two daemons, one socket: who lives keeps it', { skip, buffered: true }, async t => {
  const { daemon, socket } = await startSurfaces(t)
  const folder = tempFolder(t)
  process.kill(daemon.pid, 'SIGSTOP')
  rmSync(socket)
  const other = await startDaemon({ socket, stateDir: folder.file('state') })
  t.teardown(() => other.stop('SIGKILL'))
  process.kill(daemon.pid, 'SIGCONT')
  await until('the first one says so', () => daemon.log().includes('another daemon answers on'))
  const stateDirOf = async (): Promise<unknown> =>
    (JSON.parse((await askSocket(socket, 'GET', '/v1/health')).body) as { readonly stateDir: string })
      .stateDir
  t.equal(await stateDirOf(), other.stateDir)
  await other.stop()
  await until('and takes its place when it ends', async () =>
    stateDirOf().then(
      found => found === daemon.stateDir,
      () => false,
    ),
  )
})

t.test('a request that does not arrive in 10 s is cut off then', { skip, buffered: true }, async t => {
  const { socket } = await startSurfaces(t)
  const host = 'Host: ipkeeper\r\n'
  const rows: readonly [name: string, begin: string, piece: string][] = [
    ['nothing', '', ''],
    ['half a head', `GET /v1/health HTTP/1.1\r\n${host}`, ''],
    ['a head, line by line', `GET /v1/health HTTP/1.1\r\n${host}`, 'A: b\r\n'],
    [
      'a body, byte by byte',
      `POST /v1/cni/add HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 9999\r\n\r\n{`,
      ' ',
    ],
  ]
  await Promise.all(
    rows.map(async ([name, begin, piece]) => {
      const started = performance.now()
      const client = connect(socket)
      let got = ''
      client.on('data', (chunk: Buffer) => (got += chunk.toString()))
      if (begin !== '') client.write(begin)
      // Not at ten seconds: who writes while it is cut off has an error, and reads nothing any more.
      const drip = setInterval(() => {
        if (piece !== '' && client.writable) client.write(piece)
      }, 800)
      await closed(client)
      clearInterval(drip)
      const seconds = (performance.now() - started) / 1000
      // A loaded machine may need some more, and never the 30 s of Node's own look.
      t.ok(seconds > 9.9 && seconds < 18, `${name}: after ${seconds} s`)
      t.match(got, /IPK_REQUEST_INVALID.*not there as a whole within 10 s/, `${name}: and told why`)
    }),
  )
})

t.test('whatever is sent, an answer says what is wrong with it', { skip, buffered: true }, async t => {
  const [metrics, page] = [await freePort(), await freePort()]
  const listen = `{ metrics: { listen: "127.0.0.1:${metrics}" }, page: { listen: "127.0.0.1:${page}" } }`
  const { daemon, socket } = await startSurfaces(t, listen)
  for (const [name, text] of oddRequests) {
    const replies = await sendRaw({ path: socket }, text)
    t.equal(replies.length, 1, `${name}: one reply`)
    const [{ status, body } = { status: 0, body: '{}' }] = replies
    const { code, message, hint, requestId } = JSON.parse(body) as Partial<ErrorReply>
    t.ok(status >= 400 && code?.startsWith('IPK_') && message && hint && requestId, `${name}: ${body}`)
    for (const port of [metrics, page]) {
      const said = await sendRaw({ host: '127.0.0.1', port }, text)
      t.ok(said.length === 1 && said[0] && said[0].status >= 400 && said[0].body !== '', `${name}: ${port}`)
    }
  }
  t.equal((await daemon.ask('GET', '/v1/health')).status, 200)

  const ask = async (to: NetConnectOpts, headers: string): Promise<number | undefined> => {
    const [reply] = await sendRaw(to, `GET /metrics HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`)
    return reply?.status
  }
  const to = { host: '127.0.0.1', port: metrics }
  const hosts: readonly [host: string, status: number][] = [
    [`127.0.0.1:${metrics}`, 200],
    ['localhost', 200],
    ['[::1]:9478', 200],
    ['evil.example', 421],
    [`127.0.0.1.evil.example:${metrics}`, 421],
    ['10.0.0.1', 421],
    ['', 421],
  ]
  for (const [host, status] of hosts)
    t.equal(await ask(to, `Host: ${host}\r\n`), status, `metrics by "${host}"`)
  t.equal(
    await ask(to, 'Host: localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n'),
    403,
    'nor for a script of another site',
  )
  t.equal(await ask({ path: socket }, 'Host: evil.example\r\n'), 200, 'the socket has no other sites')
})

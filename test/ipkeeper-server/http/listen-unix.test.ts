import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { checkSocketPath, listenUnix } from '../../../ipkeeper-server/http/listen-unix.ts'
import { askSocket } from '../../rigs/daemon.ts'
import { leaveStaleSocket } from '../../rigs/scripted-socket.ts'
import { tempFolder, type TempFolder } from '../../rigs/temp-folder.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

function makeApp(t: Test): { readonly folder: TempFolder; readonly app: FastifyInstance } {
  const folder = tempFolder(t)
  const app = fastify()
  app.get('/who', async () => Promise.resolve({ pid: process.pid }))
  t.teardown(() => app.close())
  return { folder, app }
}

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)
const answers = async (path: string): Promise<boolean> =>
  (await askSocket(path, 'GET', '/who')).status === 200

t.test('makes its folder and the socket for root alone, whatever the mask is', async t => {
  const { folder, app } = makeApp(t)
  const path = folder.file('run', 'ipkeeper', 's')
  const mask = process.umask(0)
  t.teardown(() => process.umask(mask))
  await listenUnix(app, path)
  t.equal(process.umask(0), 0, 'the mask is as before')
  t.equal(mode(path), '600')
  t.equal(mode(dirname(path)), '700')
  t.ok(await answers(path))
  await app.close()
  t.notOk(existsSync(path), 'gone when it closes')
})

t.test('a folder that is there keeps its mode', async t => {
  const { folder, app } = makeApp(t)
  mkdirSync(folder.file('run'))
  chmodSync(folder.file('run'), 0o755)
  await listenUnix(app, folder.file('run', 's'))
  t.equal(mode(folder.file('run')), '755')
})

t.test('a stale socket is replaced', async t => {
  const { folder, app } = makeApp(t)
  const path = folder.file('s')
  leaveStaleSocket(path)
  t.ok(lstatSync(path).isSocket())
  await listenUnix(app, path)
  t.equal(mode(path), '600')
  t.ok(await answers(path))
})

t.test('a live socket is left alone', async t => {
  const { folder, app } = makeApp(t)
  const path = folder.file('s')
  const other = fastify()
  t.teardown(() => other.close())
  other.get('/who', async () => Promise.resolve({}))
  await listenUnix(other, path)
  const problem = await thrownProblem(() => listenUnix(app, path))
  t.match(problem, {
    code: 'IPK_SOCKET_IN_USE',
    message: `another daemon answers on ${path}`,
    hint: /stop the other/,
  })
  t.ok(await answers(path), 'and goes on answering')
})

t.test('asked before anything is made, it changes nothing', async t => {
  const { folder, app } = makeApp(t)
  await checkSocketPath(folder.file('run', 's'))
  t.notOk(existsSync(folder.file('run')))
  const path = folder.file('s')
  leaveStaleSocket(path)
  await checkSocketPath(path)
  t.ok(lstatSync(path).isSocket(), 'a stale socket is still there')
  await listenUnix(app, path)
  t.match(await thrownProblem(() => checkSocketPath(path)), { code: 'IPK_SOCKET_IN_USE' })
  writeFileSync(folder.file('file'), '')
  t.match(await thrownProblem(() => checkSocketPath(folder.file('file', 's'))), { code: 'IPK_SOCKET_FAILED' })
})

t.test('a daemon that hangs with a full queue is no stale socket', async t => {
  const { folder, app } = makeApp(t)
  const path = folder.file('s')
  const script = `require('node:net').createServer().listen({ path: process.argv[1], backlog: 1 }, () => console.log('ready'))`
  const hung = spawn(process.execPath, ['-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(hung, 'close')
  const waiting: Socket[] = []
  t.teardown(async () => {
    for (const socket of waiting) socket.destroy()
    hung.kill('SIGKILL')
    await ended
  })
  await once(hung.stdout, 'data')
  hung.kill('SIGSTOP')
  for (let full = false; !full && waiting.length < 100;) {
    const socket = connect(path)
    waiting.push(socket)
    full = await new Promise(resolve => {
      socket.once('connect', () => {
        resolve(false)
      })
      socket.once('error', () => {
        resolve(true)
      })
    })
  }
  const { ino } = lstatSync(path)
  t.match(await thrownProblem(() => listenUnix(app, path)), { code: 'IPK_SOCKET_IN_USE' })
  t.equal(lstatSync(path).ino, ino)
})

t.test("what is no socket is nobody's to remove", async t => {
  const { folder, app } = makeApp(t)
  const path = folder.file('s')
  writeFileSync(path, 'precious')
  t.match(await thrownProblem(() => listenUnix(app, path)), {
    code: 'IPK_SOCKET_IN_USE',
    message: `${path} exists and is no socket`,
    hint: 'choose another --socket',
  })
  t.equal(readFileSync(path, 'utf8'), 'precious')
  symlinkSync(path, folder.file('link'))
  t.match(await thrownProblem(() => listenUnix(app, folder.file('link'))), { code: 'IPK_SOCKET_IN_USE' })
  t.match(await thrownProblem(() => listenUnix(app, folder.path)), { code: 'IPK_SOCKET_IN_USE' })
})

t.test('a path that no socket can have', async t => {
  const { folder, app } = makeApp(t)
  const room = 107 - Buffer.byteLength(folder.path) - 1
  const tooLong = folder.file('é'.repeat(Math.ceil((room + 1) / 2)))
  const problem = await thrownProblem(() => listenUnix(app, tooLong))
  t.match(problem, { code: 'IPK_USAGE', message: /is longer than 107 bytes/, hint: /shorter --socket/ })
  const longest = folder.file('x'.repeat(room))
  t.equal(Buffer.byteLength(longest), 107)
  await listenUnix(app, longest)
  t.ok(await answers(longest))
})

t.test('what the system refuses is said with path and reason', async t => {
  const { folder, app } = makeApp(t)
  writeFileSync(folder.file('file'), '')
  for (const path of [
    folder.file('file', 's'),
    folder.file('file', 'deeper', 's'),
    '/proc/ipkeeper/s',
    '/proc/s',
  ]) {
    const problem = await thrownProblem(() => listenUnix(app, path))
    t.equal(problem.code, 'IPK_SOCKET_FAILED', problem.message)
    t.ok(problem.message.startsWith(`cannot listen on ${path} (E`), problem.message)
  }
})

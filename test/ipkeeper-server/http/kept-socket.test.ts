import { once } from 'node:events'
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { KeptSocket } from '../../../ipkeeper-server/http/kept-socket.ts'
import type { Problem } from '../../../shared/problem/problem.ts'
import { askSocket } from '../../rigs/daemon.ts'
import { until } from '../../rigs/poll.ts'
import { leaveStaleSocket } from '../../rigs/scripted-socket.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

async function openKeptSocket(t: Test) {
  const folder = tempFolder(t)
  const path = folder.file('run', 's')
  const app = fastify()
  app.get('/who', async () => Promise.resolve('us'))
  app.get('/slow', async () => {
    await delay(300)
    return 'late'
  })
  const seen = { made: 0, problems: [] as Problem[] }
  const kept = await KeptSocket.open({
    app,
    path,
    onMade: () => seen.made++,
    onProblem: problem => seen.problems.push(problem),
  })
  const close = async (): Promise<void> => {
    await Promise.all([kept.close(), app.close()])
  }
  t.teardown(() => close())
  const answers = async (): Promise<boolean> => {
    const reply = await askSocket(path, 'GET', '/who').catch(() => undefined)
    return reply?.body === 'us'
  }
  return { folder, path, seen, answers, close }
}

t.test('a socket or a folder that goes is made anew, as it was', async t => {
  const { folder, path, seen, answers } = await openKeptSocket(t)
  t.ok(await answers())
  const ways: readonly [name: string, away: () => void][] = [
    [
      'the file is removed',
      () => {
        rmSync(path)
      },
    ],
    [
      'the file is moved',
      () => {
        renameSync(path, folder.file('run', 'moved'))
      },
    ],
    [
      'the folder is removed',
      () => {
        rmSync(folder.file('run'), { recursive: true })
      },
    ],
    [
      'the folder is moved',
      () => {
        renameSync(folder.file('run'), folder.file('elsewhere'))
      },
    ],
    [
      'a dead socket is put in its place',
      () => {
        leaveStaleSocket(path)
      },
    ],
  ]
  for (const [name, away] of ways) {
    away()
    await until(`${name}: it answers again`, answers)
    t.equal((statSync(path).mode & 0o777).toString(8), '600', name)
    t.equal((statSync(folder.file('run')).mode & 0o777).toString(8), '700', name)
  }
  t.ok(seen.made >= ways.length)
  t.same(seen.problems, [])
})

t.test('who has taken its place is left alone while he lives', async t => {
  const { path, seen, answers } = await openKeptSocket(t)
  const other = createServer(connection => {
    connection.on('error', () => undefined)
    connection.end('other')
  })
  rmSync(path)
  // Nothing comes in between: the path is taken before anybody hears that it was free.
  await once(other.listen(path), 'listening')
  await until('it is told', () => seen.problems.length > 0)
  t.match(seen.problems, [{ code: 'IPK_SOCKET_IN_USE', message: `another daemon answers on ${path}` }])
  const [said] = (await once(connect(path), 'data')) as [Buffer]
  t.equal(said.toString(), 'other')
  t.equal(seen.made, 0)
  other.close()
  await once(other, 'close')
  await until('the place is ours again', answers)
  t.equal(seen.problems.length, 1)
})

t.test('a file that is no socket is left alone, and said', async t => {
  const { folder, path, seen, answers } = await openKeptSocket(t)
  writeFileSync(folder.file('mine'), 'mine')
  renameSync(folder.file('mine'), path)
  await until('it is told', () => seen.problems.length > 0)
  t.match(seen.problems[0], { code: 'IPK_SOCKET_IN_USE', message: `${path} exists and is no socket` })
  t.equal(statSync(path).size, 4)
  rmSync(path)
  await until('it answers again', answers)
})

t.test('when it closes, what was accepted by a socket made anew is answered, and the file goes', async t => {
  const { path, seen, close } = await openKeptSocket(t)
  rmSync(path)
  await until('made anew', () => seen.made > 0)
  const asked = askSocket(path, 'GET', '/slow')
  await delay(50)
  await close()
  t.match(await asked, { status: 200, body: 'late' })
  t.notOk(existsSync(path))
})

t.test('closing while its folder is gone', async t => {
  const { folder, close } = await openKeptSocket(t)
  rmSync(folder.file('run'), { recursive: true })
  await close()
  t.pass('it ends')
})

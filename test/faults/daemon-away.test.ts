/** No daemon, or one that is not there just now: who waits for it, who does not, and what a DEL does without it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startDaemon } from '../rigs/daemon.ts'
import { startProcess } from '../rigs/plugin-process.ts'
import {
  askedOf,
  configFor,
  each,
  failsProperly,
  good,
  goodReply,
  isQueued,
  listenFor,
  newPath,
  queuedIn,
  result,
  runVerb,
  succeeds,
  verbs,
} from '../rigs/plugin-under-fault.ts'
import { missing } from '../rigs/requirements.ts'
import { leaveStaleSocket, listenScripted } from '../rigs/scripted-socket.ts'

const skip = missing('executables')

t.test('nobody answers on the path', { skip }, async t => {
  const stale = newPath()
  leaveStaleSocket(stale)
  const aFile = newPath()
  writeFileSync(aFile, '')
  const aFolder = newPath()
  mkdirSync(aFolder)
  const paths: readonly [name: string, path: string, why: RegExp][] = [
    ['no socket', newPath(), /: there is no such socket$/],
    ['no folder', join(newPath(), 'ipkeeper.sock'), /: there is no such socket$/],
    ['a file instead of the folder', join(aFile, 'ipkeeper.sock'), /: a part of its path is not a folder$/],
    ['a stale socket', stale, /: nothing listens on the socket$/],
    ['a file', aFile, /: nothing listens on the socket$/],
    ['a folder', aFolder, /: nothing listens on the socket$/],
    ['a path that is too long', `/${'x'.repeat(200)}`, /: connect fails with E[A-Z]+$/],
    ['a path with a NUL', '/run/a\u0000b', /: /],
  ]
  const runs = paths.flatMap(path => verbs.map(verb => [path, verb] as const))
  await each(runs, async ([[name, path, why], verb]) => {
    const what = `${verb}, ${name}`
    const stateDir = newPath()
    const finished = await runVerb(verb, configFor(path, { stateDir, timeout: 0.5 }))
    if (verb === 'DEL') {
      isQueued(t, what, finished, stateDir)
      t.match(finished.stderr, /the DEL of c1 is queued in .*: cannot reach ipkeeper-server on /, what)
      return
    }
    failsProperly(t, what, finished, { code: verb === 'STATUS' ? 50 : 11, msg: why })
    t.match(finished.stdout, `cannot reach ipkeeper-server on ${JSON.stringify(path).slice(1, -1)}`, what)
  })
})

t.test('the error says what to do', { skip }, async t => {
  for (const verb of ['ADD', 'CHECK', 'GC', 'STATUS']) {
    const finished = await runVerb(verb, configFor(newPath(), { timeout: 0.1 }))
    failsProperly(t, verb, finished, { details: /systemctl restart ipkeeper/ })
  }
})

t.test('it is tried again, with pauses that grow', { skip }, async t => {
  const patient = new Set<string>(['ADD', 'CHECK', 'GC'])
  await each(verbs, async verb => {
    const daemon = await listenFor(t, connection => {
      connection.destroy()
    })
    const stateDir = newPath()
    const finished = await runVerb(verb, configFor(daemon.path, { stateDir, timeout: 1.2 }))
    const tries = daemon.accepted()
    if (verb === 'DEL') {
      isQueued(t, verb, finished, stateDir)
      t.equal(tries, 2, 'DEL: once, and once more when it is in the queue')
      return
    }
    failsProperly(t, verb, finished, { msg: /broke off: the connection ended without a reply/ })
    // 20, 40, 80, 160, 320, 500 ms.
    t.ok(patient.has(verb) ? tries >= 2 && tries <= 7 : tries === 1, `${verb}: ${tries} tries`)
    const bodies = new Set(daemon.requests.map(({ body }) => body))
    t.equal(bodies.size, 1, `${verb}: every try is the same request, by which the daemon knows it again`)
  })
})

t.test('it comes while the plugin waits', { skip }, async t => {
  await each(['ADD', 'CHECK', 'GC'] as const, async verb => {
    const path = newPath()
    const waiting = startProcess(verb, configFor(path))
    await delay(300)
    const server = await listenScripted(path, good)
    t.teardown(() => server.close())
    succeeds(t, verb, await waiting.finished, verb === 'ADD' ? result : undefined)
  })
})

t.test('it is killed in the middle of a reply', { skip }, async t => {
  await each(verbs, async verb => {
    const stateDir = newPath()
    const dying = await listenFor(t, (connection, { head }) => {
      connection.write(goodReply(head).slice(0, -20), () => {
        void dying.close()
      })
    })
    const finished = await runVerb(verb, configFor(dying.path, { stateDir, timeout: 1 }))
    if (verb === 'DEL') isQueued(t, verb, finished, stateDir)
    else failsProperly(t, verb, finished, { code: verb === 'STATUS' ? 50 : 11, msg: /ipkeeper-server on/ })
  })
})

t.test('it is killed in the middle of a reply, and comes back', { skip }, async t => {
  await each(['ADD', 'CHECK', 'DEL', 'GC'] as const, async verb => {
    const stateDir = newPath()
    const daemon = await listenFor(t, (connection, { head, nth }) => {
      if (nth === 0) connection.end(goodReply(head).slice(0, 40))
      else connection.write(goodReply(head))
    })
    const finished = await runVerb(verb, configFor(daemon.path, verb === 'DEL' ? { stateDir } : {}))
    succeeds(t, verb, finished, verb === 'ADD' ? result : undefined)
    t.same(queuedIn(stateDir), [], `${verb}: a DEL that was queued is taken back`)
    t.same(askedOf(daemon), [verb, verb])
    t.equal(daemon.requests[0]?.body, daemon.requests[1]?.body, `${verb}: sent again as it was`)
  })
})

t.test('a DEL that was queued is carried out by the real daemon', { skip }, async t => {
  const stateDir = newPath()
  const socket = newPath()
  const config = configFor(socket, { stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]] })
  const before = await startDaemon({ socket, stateDir })
  t.equal((await runVerb('ADD', config)).exit, 0)
  t.equal((await before.boundLeases()).length, 1)
  await before.stop('SIGKILL')
  isQueued(t, 'DEL', await runVerb('DEL', config), stateDir)
  const after = await startDaemon({ socket, stateDir })
  t.teardown(() => after.stop('SIGKILL'))
  t.same(await after.boundLeases(), [], 'before it serves')
  t.same(queuedIn(stateDir), [])
})

/**
 * A signal at every phase of a run. Before the first line of JavaScript it ends the plugin as it ends any process, with
 * nothing printed; from then on there is one whole document, or what the run would have printed anyway.
 */
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startProcess, untilItHandles } from '../rigs/plugin-process.ts'
import {
  askedOf,
  configFor,
  each,
  failsProperly,
  good,
  goodReply,
  hasOneEnd,
  listenFor,
  newPath,
  queuedIn,
  result,
  succeeds,
  verbs,
} from '../rigs/plugin-under-fault.ts'
import { missing } from '../rigs/requirements.ts'
import type { Script } from '../rigs/scripted-socket.ts'

const skip = missing('executables')

/** Signals that are answered with an error document. */
const interrupting = [
  'SIGTERM',
  'SIGINT',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR2',
  'SIGALRM',
  'SIGVTALRM',
  'SIGPROF',
  'SIGXCPU',
  'SIGIO',
  'SIGPWR',
  'SIGSTKFLT',
] as const
/** Signals that change nothing. */
const harmless = ['SIGPIPE', 'SIGXFSZ', 'SIGUSR1', 'SIGCHLD', 'SIGWINCH', 'SIGURG', 'SIGCONT'] as const
type Signal = (typeof interrupting)[number] | (typeof harmless)[number]

const hangUp = 1
const interruptedBy = (signal: Signal) => ({
  code: 11,
  msg: `interrupted by ${signal} before the outcome was known`,
  details: /IPK_INTERRUPTED/,
})

t.test('while stdin is read', { skip }, async t => {
  await each(
    verbs.map((verb, nth) => [verb, interrupting[nth] ?? 'SIGTERM'] as const),
    async ([verb, signal]) => {
      const run = startProcess(verb)
      run.child.stdin?.write('{"cniVersion":"1.0.0",')
      await untilItHandles(run.pid, hangUp)
      run.child.kill(signal)
      const finished = await run.finished
      failsProperly(t, verb, finished, interruptedBy(signal))
    },
  )
})

/** A daemon that keeps a request until the test has done something to the plugin. */
async function holding(t: Test) {
  const asked = Promise.withResolvers<Parameters<Script>>()
  const daemon = await listenFor(t, (connection, request) => {
    asked.resolve([connection, request])
  })
  return { ...daemon, asked: asked.promise }
}

t.test('every signal, while the daemon works', { skip }, async t => {
  await each([...interrupting, ...harmless], async signal => {
    const daemon = await holding(t)
    const run = startProcess('ADD', configFor(daemon.path))
    const [connection, { head }] = await daemon.asked
    run.child.kill(signal)
    if (interrupting.some(name => name === signal)) {
      failsProperly(t, signal, await run.finished, interruptedBy(signal))
    } else {
      // Whatever it did, it has done after some turns of the event loop.
      await delay(50)
      connection.write(goodReply(head))
      const finished = await run.finished
      succeeds(t, signal, finished, result)
      t.equal(finished.stderr, '', `${signal}: no debugger, nothing else`)
    }
    await daemon.quiet()
    t.same(askedOf(daemon), ['ADD'], `${signal}: the daemon sees the connection end, and no DEL`)
  })
})

t.test('every verb, while the daemon works and in the middle of its reply', { skip }, async t => {
  const moments = ['before the reply', 'after half of it'] as const
  const cases = verbs.flatMap(verb => moments.map(moment => [verb, moment] as const))
  await each(cases, async ([verb, moment]) => {
    const stateDir = newPath()
    const daemon = await holding(t)
    const run = startProcess(verb, configFor(daemon.path, { stateDir }))
    const [connection, { head }] = await daemon.asked
    if (moment === 'after half of it') {
      await new Promise(written => connection.write(goodReply(head).slice(0, -10), written))
    }
    run.child.kill('SIGTERM')
    failsProperly(t, `${verb}, ${moment}`, await run.finished, interruptedBy('SIGTERM'))
    t.same(queuedIn(stateDir), [], `${verb}, ${moment}: the runtime sends a failed DEL again`)
  })
})

t.test('while a daemon that is away is tried again', { skip }, async t => {
  await each(['ADD', 'CHECK', 'GC'] as const, async verb => {
    const tried = Promise.withResolvers<undefined>()
    const daemon = await listenFor(t, (connection, { nth }) => {
      connection.destroy()
      if (nth === 2) tried.resolve(undefined)
    })
    const run = startProcess(verb, configFor(daemon.path))
    await tried.promise
    run.child.kill('SIGINT')
    failsProperly(t, verb, await run.finished, interruptedBy('SIGINT'))
  })
})

t.test('while a DEL that is queued asks once more: it stays in the queue', { skip }, async t => {
  const stateDir = newPath()
  const again = Promise.withResolvers<undefined>()
  const daemon = await listenFor(t, (connection, { nth }) => {
    if (nth === 0) connection.destroy()
    else again.resolve(undefined)
  })
  const run = startProcess('DEL', configFor(daemon.path, { stateDir }))
  await again.promise
  run.child.kill('SIGTERM')
  failsProperly(t, 'DEL', await run.finished, interruptedBy('SIGTERM'))
  t.equal(queuedIn(stateDir).length, 1, 'a DEL that failed and is carried out does no harm')
})

t.test('while an ADD is undone: the error that was found is the one that is said', { skip }, async t => {
  const undoing = Promise.withResolvers<Parameters<Script>>()
  const daemon = await listenFor(t, (connection, request) => {
    if (request.nth === 0) connection.write(goodReply(request.head))
    else undoing.resolve([connection, request])
  })
  const full = openSync('/dev/full', 'w')
  t.teardown(() => {
    closeSync(full)
  })
  const run = startProcess('ADD', configFor(daemon.path), { stdio: ['pipe', full, 'pipe'] })
  const [connection, { head }] = await undoing.promise
  run.child.kill('SIGTERM')
  await delay(50)
  connection.write(goodReply(head))
  const finished = await run.finished
  t.match(finished, { exit: 1, stderr: /cannot be written to stdout/ })
  t.same(askedOf(daemon), ['ADD', 'DEL'], 'the undo is not cut short')
})

const long = {
  ...result,
  routes: Array.from({ length: 20_000 }, (_, n) => ({ dst: `10.${n >> 8}.${n & 255}.0/24` })),
}

t.test('while a long result is written: it arrives whole', { skip }, async t => {
  await each(['SIGTERM', 'SIGINT', 'SIGPIPE'] as const, async signal => {
    const daemon = await listenFor(t, (connection, { head }) => {
      connection.write(goodReply(head, undefined, long))
    })
    const run = startProcess('ADD', configFor(daemon.path), { readStdout: false })
    const { stdout } = run.child
    t.ok(stdout, signal)
    if (!stdout) return
    // Something has come, more than the pipe holds is still to come, and nobody takes it.
    await once(stdout, 'readable')
    run.child.kill(signal)
    await delay(50)
    const printed = await text(stdout)
    t.match(await run.finished, { exit: 0, signal: null }, signal)
    t.same(JSON.parse(printed), long, signal)
  })
})

/** Delays from 0 to beyond the end of a run, each with a signal of the list. */
const moments = (count: number, longestMs: number): readonly (readonly [signal: Signal, ms: number])[] =>
  Array.from({ length: count }, (_, nth) => [
    (['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGPIPE', 'SIGUSR2'] as const)[nth % 6] ?? 'SIGTERM',
    (longestMs * nth) / count,
  ])

t.test('at any moment: nothing, one error or one result', { skip }, async t => {
  const daemon = await listenFor(t, good)
  const { ms: usualMs } = await startProcess('ADD', configFor(daemon.path)).finished
  const ends: Record<string, number> = { nothing: 0, error: 0, result: 0 }
  await each(moments(180, 2 * usualMs), async ([signal, ms]) => {
    const run = startProcess('ADD', configFor(daemon.path))
    await delay(ms)
    run.child.kill(signal)
    const finished = await run.finished
    const end = hasOneEnd(t, `${signal} after ${ms} ms`, finished)
    if (end === 'result') t.same(JSON.parse(finished.stdout), result)
    ends[end] = (ends[end] ?? 0) + 1
  })
  t.comment(JSON.stringify(ends))
})

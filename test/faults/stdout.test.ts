/** Where the answer goes, and what if it cannot: an ADD whose answer nobody has is undone. stderr never matters. */
import { spawnSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startProcess } from '../rigs/plugin-process.ts'
import {
  askedOf,
  configFor,
  each,
  failsProperly,
  folder,
  good,
  goodReply,
  isQueued,
  listenFor,
  newPath,
  result,
  runVerb,
  succeeds,
  verbs,
} from '../rigs/plugin-under-fault.ts'
import { missing } from '../rigs/requirements.ts'
import type { Script } from '../rigs/scripted-socket.ts'

const skip = missing('executables')

/** A result of some routes: 5000 are 300 kB. */
const longResult = (routes: number) => ({
  ...result,
  routes: Array.from({ length: routes }, (_, n) => ({ dst: `10.${n >> 8}.${n & 255}.0/24` })),
})
const answering =
  (added: object): Script =>
  (connection, { head }) => {
    connection.write(goodReply(head, undefined, added))
  }

t.test('a stdout that takes nothing', { skip }, async t => {
  const kinds: readonly [name: string, script: string, why: RegExp][] = [
    ['closed', 'exec "$0" >&-', /it is closed/],
    ['full', 'exec "$0" >/dev/full', /ENOSPC/],
    ['open for reading only', 'exec "$0" 1</dev/zero', /EBADF/],
    ['a file that may not grow', `ulimit -f 0; exec "$0" >${newPath()}`, /EFBIG/],
    [
      'a pipe without a reader',
      `f=$(mktemp -u ${folder.path}/XXXXXX); mkfifo $f; exec 3<>$f 4>$f 3<&-; exec "$0" >&4`,
      /EPIPE/,
    ],
  ]
  const runs = kinds.flatMap(kind => [...verbs, 'VERSION'].map(verb => [kind, verb] as const))
  await each(runs, async ([[kind, script, why], verb]) => {
    const name = `${verb}, ${kind}`
    const daemon = await listenFor(t, good)
    const finished = await runVerb(verb, configFor(daemon.path), { by: ['/bin/sh', '-c', script] })
    if (verb === 'ADD' || verb === 'VERSION') {
      t.equal(finished.exit, 1, `${name}: exit code`)
      t.match(finished.stderr, /cannot be written to stdout: /, name)
      t.match(finished.stderr, why, name)
    } else {
      succeeds(t, name, finished)
    }
    t.same(askedOf(daemon), verb === 'ADD' ? ['ADD', 'DEL'] : verb === 'VERSION' ? [] : [verb], name)
  })
})

t.test('an error that cannot be said is an error still', { skip }, async t => {
  await each(['>&-', '>/dev/full'], async redirection => {
    const finished = await runVerb('CHECK', '{', { by: ['/bin/sh', '-c', `exec "$0" ${redirection}`] })
    t.equal(finished.exit, 1, redirection)
  })
})

t.test('a disk that is full', { skip: missing('executables', 'namespaces') }, async t => {
  const mountPoint = newPath()
  const script = `mkdir ${mountPoint}; mount -t tmpfs -o size=16k tmpfs ${mountPoint}; head -c 1M /dev/zero >${mountPoint}/full
    "$0" >${mountPoint}/stdout; code=$?; cat ${mountPoint}/stdout; exit $code`
  const daemon = await listenFor(t, good)
  const finished = await runVerb('ADD', configFor(daemon.path), {
    by: ['unshare', '--mount', '/bin/sh', '-c', script],
  })
  t.match(finished, { exit: 1, stdout: '', stderr: /ENOSPC/ })
  t.same(askedOf(daemon), ['ADD', 'DEL'])
})

t.test('a reader that goes', { skip }, async t => {
  const early = await listenFor(t, (connection, request) => {
    reader.close?.()
    // The other end of the pipe has to be closed before the answer comes.
    setTimeout(() => {
      good(connection, request)
    }, 20)
  })
  const reader: { close?: () => void } = {}
  const abandoned = startProcess('ADD', configFor(early.path), { readStdout: false })
  reader.close = (): void => {
    abandoned.child.stdout?.destroy()
  }
  t.match(await abandoned.finished, { exit: 1, stderr: /EPIPE/ }, 'before the answer')
  t.same(askedOf(early), ['ADD', 'DEL'])

  const daemon = await listenFor(t, answering(longResult(5000)))
  const finished = await runVerb('ADD', configFor(daemon.path), {
    by: ['/bin/sh', '-c', '{ cat | "$0"; echo "exit $?" >&2; } | head -c 1'],
  })
  t.match(finished, { stdout: '{', stderr: /exit 1\n/ }, 'after one byte')
  t.same(askedOf(daemon), ['ADD', 'DEL'])
})

t.test('a reader that takes its time gets a long result whole', { skip }, async t => {
  await each([5000, 50_000], async routes => {
    const daemon = await listenFor(t, answering(longResult(routes)))
    const finished = await runVerb('ADD', configFor(daemon.path), {
      by: ['/bin/sh', '-c', 'cat | "$0" | { sleep 0.3; dd bs=4096 2>/dev/null; }'],
    })
    t.ok(finished.stdout.length > 50 * routes, `${finished.stdout.length} characters`)
    t.same(JSON.parse(finished.stdout), longResult(routes))
  })
})

t.test('other places that take it', { skip }, async t => {
  const daemon = await listenFor(t, answering(longResult(5000)))
  const file = newPath()
  t.equal(
    (await runVerb('ADD', configFor(daemon.path), { by: ['/bin/sh', '-c', `exec "$0" >${file}`] })).exit,
    0,
  )
  t.same(JSON.parse(readFileSync(file, 'utf8')), longResult(5000), 'a file')
  // What spawn makes for "pipe" is a pair of sockets.
  succeeds(t, 'a socket', await startProcess('ADD', configFor(daemon.path)).finished, longResult(5000))
  const nowhere = await runVerb('ADD', configFor(daemon.path), {
    by: ['/bin/sh', '-c', 'exec "$0" >/dev/null'],
  })
  t.match(nowhere, { exit: 0, stderr: '' }, '/dev/null is what the caller wants')
  t.same(askedOf(daemon), ['ADD', 'ADD', 'ADD'])
})

t.test('a pipe that does not block', { skip }, async t => {
  const daemon = await listenFor(t, answering(longResult(5000)))
  const fifo = newPath()
  t.equal(spawnSync('mkfifo', [fifo]).status, 0)
  // Both ends in one: writes of the plugin get EAGAIN while the pipe is full.
  const pipe = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK)
  t.teardown(() => {
    closeSync(pipe)
  })
  // spawn would make a standard stream block again; a shell hands it on as it is.
  const run = startProcess('ADD', configFor(daemon.path), {
    by: ['/bin/sh', '-c', 'exec "$0" >&3'],
    stdio: ['pipe', 'ignore', 'ignore', pipe],
  })
  const state = { running: true }
  void run.finished.finally(() => (state.running = false))
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
  t.equal((await run.finished).exit, 0)
  t.same(JSON.parse(Buffer.concat(chunks).toString()), longResult(5000))
})

/** A pipe in which there is no room for one byte, and which nobody reads. */
const fullPipe = `f=$(mktemp -u ${folder.path}/XXXXXX); mkfifo $f; exec 3<>$f; dd if=/dev/zero of=$f bs=4096 oflag=nonblock 2>/dev/null;`

t.test('stderr does not matter', { skip }, async t => {
  const daemon = await listenFor(t, good)
  const kinds: readonly [name: string, script: string][] = [
    ['closed', 'exec "$0" 2>&-'],
    ['full', 'exec "$0" 2>/dev/full'],
    [
      'a pipe without a reader',
      `f=$(mktemp -u ${folder.path}/XXXXXX); mkfifo $f; exec 3<>$f 4>$f 3<&-; exec "$0" 2>&4`,
    ],
    ['a full pipe that nobody reads', `${fullPipe} exec "$0" 2>&3`],
    ['the same as stdout', 'exec "$0" 2>&1'],
  ]
  await each(kinds, async ([name, script]) => {
    const by = ['/bin/sh', '-c', script] as const
    succeeds(t, `ADD, ${name}`, await runVerb('ADD', configFor(daemon.path), { by }), result)
    failsProperly(t, `CHECK, ${name}`, await runVerb('CHECK', '{', { by }), { code: 6 })
    const noCommand = await runVerb('', '', { by })
    t.equal(noCommand.exit, 0, `no command, ${name}`)
    const stateDir = newPath()
    const queued = await runVerb('DEL', configFor(newPath(), { stateDir }), { by })
    if (name === 'the same as stdout')
      t.match(queued, { exit: 0, stdout: /^ipkeeper: the DEL of c1 is queued/ })
    else isQueued(t, `DEL, ${name}`, queued, stateDir)
  })
})

t.test('everything closed', { skip }, async t => {
  for (const verb of [...verbs, 'VERSION']) {
    const finished = await runVerb(verb, '', { by: ['/bin/sh', '-c', 'exec "$0" <&- >&- 2>&-'] })
    t.match(finished, { exit: 1, stdout: '' }, verb)
  }
})

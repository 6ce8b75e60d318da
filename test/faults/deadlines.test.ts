/** Every verb ends in its time, whatever the daemon does with it. Upper limits are generous: machines are loaded. */
import t, { type Test } from 'tap'
import {
  askedOf,
  configFor,
  failsProperly,
  isQueued,
  listenFor,
  newPath,
  runVerb,
  type DaemonVerb,
} from '../rigs/plugin-under-fault.ts'
import { missing } from '../rigs/requirements.ts'
import type { Script } from '../rigs/scripted-socket.ts'

const skip = missing('executables')

/** Seconds that a run takes at least and that DESIGN grants it at most, with what a loaded machine may add. */
const slack = 15

interface Row {
  readonly verb: DaemonVerb
  /** Seconds in the configuration. */
  readonly timeout: number
  /** Seconds after which it gives up. */
  readonly seconds: number
}

const rows: readonly Row[] = [
  { verb: 'ADD', timeout: 2, seconds: 2 },
  { verb: 'ADD', timeout: 12, seconds: 12 },
  { verb: 'CHECK', timeout: 60, seconds: 10 },
  { verb: 'CHECK', timeout: 1, seconds: 1 },
  // One second more for the second try, once it is in the queue.
  { verb: 'DEL', timeout: 60, seconds: 11 },
  { verb: 'DEL', timeout: 1, seconds: 2 },
  { verb: 'GC', timeout: 60, seconds: 15 },
  { verb: 'STATUS', timeout: 60, seconds: 2 },
]

/** Sends a piece now and then, for as long as the other side stays. */
const drip =
  (begin: string, piece: string): Script =>
  connection => {
    connection.write(begin)
    const timer = setInterval(() => connection.write(piece), 100)
    connection.on('close', () => {
      clearInterval(timer)
    })
  }

const silences: readonly [name: string, script: Script][] = [
  ['nothing is said', () => undefined],
  ['a head, byte by byte', drip('HTTP/1.1 200 OK\r\nX: ', 'x')],
  ['a body, byte by byte', drip('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n', ' ')],
  ['a chunk now and then', drip('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', '1\r\n \r\n')],
  ['interim replies without end', drip('', 'HTTP/1.1 102 Processing\r\n\r\n')],
]

async function endsInTime(
  t: Test,
  name: string,
  path: string,
  { verb, timeout, seconds }: Row,
): Promise<void> {
  const stateDir = newPath()
  const finished = await runVerb(verb, configFor(path, { stateDir, timeout }))
  const what = `${name}: ${verb} with a timeout of ${timeout} s`
  const took = finished.ms / 1000
  t.ok(took >= seconds - 0.2 && took < seconds + slack, `${what} took ${took} s`)
  if (verb === 'DEL') isQueued(t, what, finished, stateDir)
  else
    failsProperly(t, what, finished, {
      code: verb === 'STATUS' ? 50 : 11,
      msg: `did not answer ${verb} within`,
    })
}

t.test('a daemon that takes the request and does not answer', { skip }, async t => {
  const runs = silences.map(async ([name, script]) => {
    const daemon = await listenFor(t, script)
    // The long ones against one of them.
    const chosen = rows.filter(({ seconds }) => name === 'nothing is said' || seconds <= 2)
    await Promise.all(chosen.map(row => endsInTime(t, name, daemon.path, row)))
    const adds = askedOf(daemon).filter(verb => verb === 'ADD').length
    // On a busy machine a second may be over before the daemon is asked at all.
    t.ok(
      adds > 0 && adds <= chosen.filter(({ verb }) => verb === 'ADD').length,
      `${name}: late is not asked again`,
    )
  })
  await Promise.all(runs)
})

t.test('a daemon that is away is waited for, but not for ever', { skip }, async t => {
  const waits: readonly [verb: DaemonVerb, timeout: number, seconds: number][] = [
    ['ADD', 60, 10],
    ['ADD', 1, 1],
    ['CHECK', 60, 10],
    ['DEL', 60, 0],
    ['GC', 60, 5],
    ['STATUS', 60, 0],
  ]
  await Promise.all(
    waits.map(async ([verb, timeout, seconds]) => {
      const stateDir = newPath()
      const finished = await runVerb(verb, configFor(newPath(), { stateDir, timeout }))
      const took = finished.ms / 1000
      // It gives up before a pause that would end too late; the longest is half a second.
      t.ok(
        took >= seconds - 0.7 && took < seconds + slack,
        `${verb} with a timeout of ${timeout} s took ${took} s`,
      )
      if (verb === 'DEL') isQueued(t, verb, finished, stateDir)
      else failsProperly(t, verb, finished, { msg: 'there is no such socket' })
    }),
  )
})

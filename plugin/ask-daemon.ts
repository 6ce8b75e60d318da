import type { ErrorReply } from '../shared/api/cni.schema.ts'
import { JsonSyntaxError, parseJson } from '../shared/json/parse-json.ts'
import { defaultPaths } from '../shared/paths.ts'
import type { ProblemCode } from '../shared/problem/catalogue.ts'
import { Problem } from '../shared/problem/problem.ts'
import { shellWord } from '../shared/text/shell-word.ts'
import type { Abandonment } from './abandonment.ts'
import { ExchangeError, type Exchange, type ExchangeFault, type HttpReply } from './exchange.ts'
import { Refusal } from './outcome.ts'
import type { TimeLimits } from './time-limits.ts'
import { validateErrorReply, type Validator } from './validators.generated.ts'

export interface Question<Reply> {
  /** The verb, for messages. */
  readonly verb: string
  /** Path of the URL. */
  readonly path: string
  readonly socket: string
  /** JSON text; the same for every try, so that the daemon recognises a second one by its invocationId. */
  readonly body: string
  readonly limits: TimeLimits
  readonly validate: Validator<Reply>
  /** Once abandoned, nothing is tried again. */
  readonly abandonment?: Abandonment | undefined
}

export interface DaemonEdges {
  readonly exchange: Exchange
  /** Milliseconds of CLOCK_MONOTONIC. */
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
}

/** The daemon understood and refused. */
export class DaemonRefusal extends Refusal {
  readonly reply: ErrorReply

  constructor(reply: ErrorReply) {
    super(reply)
    this.reply = reply
  }
}

/** A reply that does not say that nothing was done, and cannot be used: what was asked may have to be undone. */
export class UnusableReply extends Problem {}

const firstPauseMs = 20
const longestPauseMs = 500
/** A try with less time than this would end as late, and hide what is known by then of the daemon. */
const shortestTryMs = 250

/** Faults of a daemon that is away; ADDs that it saw nevertheless are recognised by their invocationId. */
const away: readonly ExchangeFault[] = ['missing', 'refused', 'lost']

function isAway(error: unknown): boolean {
  return error instanceof ExchangeError && away.includes(error.fault)
}

/**
 * Asks until there is an answer, or no more time for one.
 *
 * @returns the validated reply
 * @throws DaemonRefusal for an error reply; UnusableReply; Problem IPK_DAEMON_UNREACHABLE, IPK_DAEMON_TIMEOUT or
 *   IPK_DAEMON_REPLY_INVALID
 */
export async function askDaemon<Reply>(edges: DaemonEdges, question: Question<Reply>): Promise<Reply> {
  const { path, socket, body, limits, abandonment } = question
  const deadline = edges.now() + limits.totalMs
  let giveUpAt: number | undefined
  let pauseMs = firstPauseMs
  for (;;) {
    try {
      const timeoutMs = Math.max(1, deadline - edges.now())
      return readReply(await edges.exchange({ socket, path, body, timeoutMs, abandonment }), question)
    } catch (error) {
      giveUpAt ??= Math.min(edges.now() + limits.reachMs, deadline)
      const hopeless = !isAway(error) || abandonment?.abandoned()
      if (hopeless || edges.now() + pauseMs + shortestTryMs >= giveUpAt) {
        throw error instanceof ExchangeError ? explain(error, question) : error
      }
    }
    await Promise.race([
      edges.sleep(pauseMs),
      new Promise<void>(resolve => abandonment?.whenAbandoned(resolve)),
    ])
    pauseMs = Math.min(pauseMs * 2, longestPauseMs)
  }
}

function explain({ fault, message }: ExchangeError, { verb, socket, limits }: Question<unknown>): Problem {
  switch (fault) {
    case 'missing':
    case 'refused':
      return new Problem('IPK_DAEMON_UNREACHABLE', `cannot reach ipkeeper-server on ${socket}: ${message}`, {
        hint: awayHint(socket),
      })
    case 'forbidden':
    case 'unusable':
      return new Problem('IPK_DAEMON_UNREACHABLE', `cannot reach ipkeeper-server on ${socket}: ${message}`, {
        hint: 'the plugin has to run as root, and "ipam.socket" in the conflist has to name the socket of the daemon',
      })
    case 'exhausted':
      return new Problem('IPK_DAEMON_UNREACHABLE', `cannot reach ipkeeper-server on ${socket}: ${message}`, {
        hint: 'raise the limit of open files (ulimit -n) of the runtime that starts the plugin',
      })
    case 'late': {
      const seconds = Math.round(limits.totalMs / 100) / 10
      const what = `ipkeeper-server on ${socket} did not answer ${verb} within ${seconds} s`
      // Only ADD waits as long as the configuration says.
      const hint = verb === 'ADD' ? {} : { hint: 'look at the log of ipkeeper-server' }
      return new Problem('IPK_DAEMON_TIMEOUT', what, hint)
    }
    case 'lost':
      return new Problem('IPK_DAEMON_REPLY_INVALID', `ipkeeper-server on ${socket} broke off: ${message}`)
    case 'malformed':
      return new UnusableReply('IPK_DAEMON_REPLY_INVALID', noReply(socket, message))
  }
}

/** How the daemon is run it alone would know. */
function awayHint(socket: string): string {
  const option = socket === defaultPaths.socket ? '' : ` --socket ${shellWord(socket)}`
  return `systemctl restart ipkeeper, then see: ipkeeperctl status${option}; where it is a DaemonSet: kubectl get pods -A -o wide -l app.kubernetes.io/name=ipkeeper`
}

const noReply = (socket: string, why: string): string =>
  `what answered on ${socket} is no reply of ipkeeper-server: ${why}`

function readReply<Reply>({ status, body }: HttpReply, { socket, validate }: Question<Reply>): Reply {
  const fault = (why: string): [code: ProblemCode, message: string] => [
    'IPK_DAEMON_REPLY_INVALID',
    noReply(socket, `status ${status}, ${why}`),
  ]
  const value = decode(body)
  if (status === 200) {
    if (value instanceof JsonSyntaxError) throw new UnusableReply(...fault(`no JSON: ${value.message}`))
    if (!validate(value)) throw new UnusableReply(...fault(firstError(validate)))
    return value
  }
  if (value instanceof JsonSyntaxError) throw new Problem(...fault(`no JSON: ${value.message}`))
  if (!validateErrorReply(value)) throw new Problem(...fault(firstError(validateErrorReply)))
  throw new DaemonRefusal(value)
}

function decode(body: Buffer): unknown {
  try {
    return parseJson(body.toString())
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error
    throw error
  }
}

function firstError({ errors }: Validator<unknown>): string {
  const [error] = errors ?? []
  return error === undefined
    ? 'not valid'
    : `the body${error.instancePath} ${error.message ?? 'is not valid'}`
}

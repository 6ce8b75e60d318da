import { Client, errors } from 'undici'
import type { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { catalogue, type ProblemCode } from '../../../shared/problem/catalogue.ts'
import type { HealthReply } from '../../../shared/api/listing.schema.ts'
import { version as ownVersion } from '../../../shared/build-info.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { refusalOf } from './older-daemon.ts'
import { systemCode } from '../../../shared/system-code.ts'

/** Milliseconds that the daemon may take for a listing, unless a command knows better. */
const usualDeadline = 10_000

/** Milliseconds between two parts of a long answer; the first one of a large ledger takes a while. */
const streamDeadline = 60_000

/** How commands ask the daemon. */
export interface DaemonClient {
  readonly socket: string
  /** Resolves to the body of a 200; throws the problem of any other reply, or IPK_DAEMON_UNREACHABLE. */
  readonly ask: (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: object,
    deadline?: number,
  ) => Promise<unknown>
  /** The body of a long answer as it comes. Rejects, also half-way, as `ask` does. */
  readonly stream: (path: string) => AsyncIterable<string>
  readonly close: () => Promise<void>
}

function unreachable(socket: string, error: unknown, deadline: number): Problem {
  const code = systemCode(error)
  const late = error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError
  const why =
    code === 'ENOENT'
      ? 'there is no such socket'
      : code === 'ECONNREFUSED'
        ? 'no process is listening on it'
        : code === 'EACCES'
          ? 'permission denied'
          : error instanceof Error
            ? error.message
            : String(error)
  return new Problem(
    late ? 'IPK_DAEMON_TIMEOUT' : 'IPK_DAEMON_UNREACHABLE',
    late
      ? `the daemon at ${socket} did not answer within ${deadline / 1000} s`
      : `cannot reach the daemon at ${socket}: ${why}`,
    {
      cause: error,
      ...(code === 'EACCES' && { hint: 'run as root' }),
      // What the catalogue says of a timeout is of the plugin.
      ...(late && { hint: 'look at the log: journalctl -u ipkeeper -n 50; then try again' }),
    },
  )
}

function isErrorReply(body: unknown): body is ErrorReply {
  return typeof body === 'object' && body !== null && 'code' in body && 'message' in body
}

function parseReply(socket: string, status: number, text: string): unknown {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw new Problem(
      'IPK_DAEMON_REPLY_INVALID',
      `the process listening at ${socket} is not ipkeeper-server (HTTP ${status})`,
      { cause: error },
    )
  }
  if (status === 200) return parsed
  if (!isErrorReply(parsed) || !Object.hasOwn(catalogue, parsed.code)) {
    throw new Problem(
      'IPK_DAEMON_REPLY_INVALID',
      `the daemon at ${socket} answered HTTP ${status} with an unknown error`,
      { details: text.slice(0, 500) },
    )
  }
  throw new Problem(parsed.code as ProblemCode, parsed.message, {
    hint: parsed.hint,
    details: parsed.details,
  })
}

/** @param version of this program */
export function connectDaemon(socket: string, version = ownVersion): DaemonClient {
  const client = new Client('http://ipkeeper', {
    socketPath: socket,
    connectTimeout: 2000,
  })
  const versionOfDaemon = async (): Promise<string | undefined> => {
    const reply = await client.request({
      ...{ method: 'GET', path: '/v1/health', headersTimeout: 2000, bodyTimeout: 2000 },
    })
    return ((await reply.body.json()) as Partial<HealthReply>).version
  }
  const read = async (status: number, text: string): Promise<unknown> => {
    try {
      return parseReply(socket, status, text)
    } catch (error) {
      throw error instanceof Problem ? await refusalOf(error, version, versionOfDaemon) : error
    }
  }
  return {
    socket,
    ask: async (method, path, body, deadline = usualDeadline) => {
      let status: number
      let text: string
      try {
        const reply = await client.request({
          method,
          path,
          headersTimeout: deadline,
          bodyTimeout: deadline,
          ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
        })
        status = reply.statusCode
        text = await reply.body.text()
      } catch (error) {
        throw unreachable(socket, error, deadline)
      }
      return await read(status, text)
    },
    stream: async function* (path) {
      try {
        const reply = await client.request({
          ...{ method: 'GET', path },
          ...{ headersTimeout: streamDeadline, bodyTimeout: streamDeadline },
        })
        if (reply.statusCode !== 200) {
          await read(reply.statusCode, await reply.body.text())
          return
        }
        reply.body.setEncoding('utf8')
        for await (const part of reply.body) yield String(part)
      } catch (error) {
        throw error instanceof Problem ? error : unreachable(socket, error, streamDeadline)
      }
    },
    close: async () => {
      await client.destroy()
    },
  }
}

/** Milliseconds for one question of a check; a check as a whole has 5 s. */
const checkPatience = 4000

/** A connection for each question: one that the daemon is long about keeps no other waiting. */
export async function askOnce(socket: string, path: string, body?: object): Promise<unknown> {
  const daemon = connectDaemon(socket)
  try {
    return await daemon.ask(body ? 'POST' : 'GET', path, body, checkPatience)
  } finally {
    await daemon.close()
  }
}

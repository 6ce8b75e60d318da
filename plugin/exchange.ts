import type { Abandonment } from './abandonment.ts'
import type { Connect } from './connection.ts'
import { createReplyReader, type HttpReply } from './http-reply.ts'

export type { HttpReply } from './http-reply.ts'

/**
 * What became of a request that got no complete reply:
 *   missing    there is no socket at the path              refused    nothing listens on it, or its queue is full
 *   forbidden  we may not connect to it                    unusable   the path cannot be a socket
 *   exhausted  no file descriptor is left for a socket
 *   lost       the connection ended before the reply did   malformed  what came is not an HTTP reply
 *   late       the time was up
 * The daemon has seen nothing of the first five; of the others it may have done what was asked.
 */
export type ExchangeFault =
  'missing' | 'refused' | 'forbidden' | 'unusable' | 'exhausted' | 'lost' | 'malformed' | 'late'

export class ExchangeError extends Error {
  override readonly name = 'ExchangeError'
  readonly fault: ExchangeFault

  constructor(fault: ExchangeFault, message: string) {
    super(message)
    this.fault = fault
  }
}

export interface ExchangeRequest {
  /** Path of the unix socket. */
  readonly socket: string
  /** Path of the URL. */
  readonly path: string
  /** JSON text. */
  readonly body: string
  /** Milliseconds until the reply has to be complete. */
  readonly timeoutMs: number
  /** Ends the exchange early, but not before it is clear whether there is a reply. */
  readonly abandonment?: Abandonment | undefined
}

/** Milliseconds that an abandoned exchange waits for the other side to say something or to close. */
const abandonedMs = 1_000

export type Exchange = (request: ExchangeRequest) => Promise<HttpReply>

/** errno of a connect that failed: the fault, in words that name no errno (a DEL must not say ENOENT's text). */
const connectFaults: Readonly<Record<string, readonly [ExchangeFault, string]>> = {
  ENOENT: ['missing', 'there is no such socket'],
  ENOTDIR: ['missing', 'there is no such socket: a part of its path is not a folder'],
  ECONNREFUSED: ['refused', 'nothing listens on the socket'],
  EAGAIN: ['refused', 'the queue of the socket is full'],
  EACCES: ['forbidden', 'permission denied'],
  EPERM: ['forbidden', 'permission denied'],
  EMFILE: ['exhausted', 'no file descriptor is left for the plugin'],
  ENFILE: ['exhausted', 'no file descriptor is left on this machine'],
}

/**
 * Makes one HTTP/1.1 POST over a unix socket, on a connection of its own, which is closed in every case. node:http would
 * add about 9 ms to every run of the plugin; this is as much of it as one request to our own daemon needs.
 *
 * The write side stays open until the reply is complete: the daemon takes an early close for a client that has gone,
 * and undoes what it did. That is how an exchange is abandoned; a reply that crosses the close is returned all the same.
 *
 * @returns a function that throws ExchangeError
 */
export const createExchange =
  (connect: Connect): Exchange =>
  ({ socket, path, body, timeoutMs, abandonment }) =>
    new Promise((resolve, reject) => {
      const reader = createReplyReader()
      let connected = false

      const finish = (outcome: HttpReply | ExchangeError): void => {
        clearTimeout(timer)
        connection.close()
        if (outcome instanceof ExchangeError) reject(outcome)
        else resolve(outcome)
      }
      const lost = (): void => {
        const received = reader.received()
        const what = received === 0 ? 'without a reply' : `after ${received} bytes of an incomplete reply`
        finish(new ExchangeError('lost', `the connection ended ${what}`))
      }
      const late = (): void => {
        finish(new ExchangeError('late', 'the time was up'))
      }
      const connection = connect(socket, {
        connected: () => {
          connected = true
          connection.send(requestText(path, body))
        },
        received: bytes => {
          try {
            const reply = reader.push(bytes)
            if (reply) finish(reply)
          } catch (error) {
            finish(new ExchangeError('malformed', error instanceof Error ? error.message : String(error)))
          }
        },
        refused: code => {
          finish(refusal(code))
        },
        lost,
      })
      let timer = setTimeout(late, timeoutMs)
      abandonment?.whenAbandoned(() => {
        clearTimeout(timer)
        if (!connected) {
          lost()
          return
        }
        timer = setTimeout(late, abandonedMs)
        connection.end()
      })
    })

const requestText = (url: string, body: string): string =>
  `POST ${url} HTTP/1.1\r\nHost: ipkeeper\r\nConnection: close\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

function refusal(code: string): ExchangeError {
  const known = connectFaults[code]
  return known ? new ExchangeError(...known) : new ExchangeError('unusable', `connect fails with ${code}`)
}

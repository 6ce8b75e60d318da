import { once } from 'node:events'
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  type IncomingHttpHeaders,
} from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { ProblemCode } from '../../shared/problem/catalogue.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { keepEdge, type EarlyReply } from './http-edge.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Milliseconds that a request may take to arrive; of a read-only server also those that a connection may be idle. */
export const patience = 5_000
const headerLimit = 8 * 1024

/**
 * Of requests whose body nobody reads, and that need no password: it is on loopback, and other sites of a browser on this
 * node are kept from it. Beyond `connectionLimit` Node closes new connections unanswered.
 *
 * @param headers of every answer
 */
export function createReadOnlyServer(
  connectionLimit: number,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  headers: Readonly<Record<string, string>> = {},
): Server {
  const server = createServer(
    { maxHeaderSize: headerLimit, keepAliveTimeout: patience, requireHostHeader: false },
    (request, response) => {
      if (
        request.headers['content-length'] !== undefined ||
        request.headers['transfer-encoding'] !== undefined
      )
        response.setHeader('connection', 'close')
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      if (!isOurHost(request.headers.host))
        refuse(response, 421, 'this is at 127.0.0.1, [::1] or localhost, and under no other name')
      else if (isOfOthers(request.headers)) refuse(response, 403, 'another site may not ask here')
      else answer(request, response)
    },
  )
  server.maxConnections = connectionLimit
  keepEdge(server, { arrival: patience, refusal: plainRefusal })
  return server
}

/** In one line of text, as `refuse` says it of requests. */
export function plainRefusal(status: number, reason: string): EarlyReply {
  return { status, type: plainText, body: lineOf(status, reason) }
}

/** Where an address is configured, such as "metrics.listen", and what a refusal of it is called. */
interface ListenPlace {
  readonly key: string
  readonly code: ProblemCode
}

/** Throws `place.code` where the system refuses the address, as when another program has the port; may be tried again. */
export async function listenTcp(
  server: Server | TlsServer,
  { host, port }: ListenAddress,
  place: ListenPlace,
  onError: (error: unknown) => void,
): Promise<void> {
  try {
    // Rejects with what the server has as 'error' meanwhile, and leaves no listener behind for the next try.
    await once(server.listen({ host, port, exclusive: true }), 'listening')
  } catch (error) {
    throw listenProblem(place, { host, port }, error)
  }
  // No descriptor left for a connection, or the like: it is the connection that fails, not the daemon.
  server.on('error', onError)
}

/** Ends the connections too, also those in the middle of an answer. */
export async function closeTcp(server: Server | TlsServer): Promise<void> {
  server.closeAllConnections()
  await new Promise<void>(resolve => {
    server.close(() => {
      resolve()
    })
  })
}

/** Ends an answer with a status that is none of success, and one line that says why. */
export function refuse(response: ServerResponse, status: number, text: string): void {
  const body = lineOf(status, text)
  response.writeHead(status, { 'content-type': plainText, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

const plainText = 'text/plain; charset=utf-8'
const lineOf = (status: number, text: string): string => `${status} ${STATUS_CODES[status] ?? ''}: ${text}\n`

function listenProblem({ code, key }: ListenPlace, { host, port }: ListenAddress, error: unknown): Problem {
  const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  const where = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  const inUse = why === 'EADDRINUSE'
  return new Problem(
    code,
    inUse ? `${key}: another program listens on ${where}` : `${key}: cannot listen on ${where} (${why})`,
    {
      cause: error,
      ...(inUse && {
        hint: `see who it is: ss -ltnp 'sport = :${port}'; end it; or set another port in ${key}, then: systemctl restart ipkeeper`,
      }),
    },
  )
}

/**
 * Whether a browser was sent here by the name of this node. A page of somebody else, whose name is made to lead to a
 * loopback address (DNS rebinding), says its own. The port may be another one, as at the end of a tunnel.
 */
export function isOurHost(host: string | undefined): boolean {
  const name = /^(\[[0-9a-f:]+\]|[^:[\]]+)(?::[0-9]{1,5})?$/i.exec(host ?? '')?.[1]?.toLowerCase()
  if (name === undefined) return false
  return name === 'localhost' || name === '[::1]' || /^127(?:\.[0-9]{1,3}){3}$/.test(name)
}

/**
 * Whether another site asks through somebody's browser. It could not read the answer, but make the daemon work. A person
 * may follow a link to the page itself.
 */
export function isOfOthers(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin' || site === 'none') return false
  return headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document'
}

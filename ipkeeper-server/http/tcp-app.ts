import { once } from 'node:events'
import { createServer, STATUS_CODES, type IncomingHttpHeaders, type Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import fastify, { type FastifyInstance, type FastifyReply, type RawServerDefault } from 'fastify'
import type { ProblemCode } from '../../shared/problem/catalogue.ts'
import { Problem } from '../../shared/problem/problem.ts'
import type { ListenAddress } from '../host/listen-address.ts'
import type { TokenVerdict } from './bearer-token.ts'
import { keepEdge } from './http-edge.ts'
import { systemCode } from '../../shared/system-code.ts'

export interface TcpAppOptions {
  /** Beyond so many Node closes new connections unanswered. */
  readonly connectionLimit: number
  /** Bytes of a request's body; absent where nobody reads one. */
  readonly bodyLimit?: number
  /** Of every answer. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Milliseconds that a request may take to arrive; of a read-only server also those that a connection may be idle. */
export const patience = 5_000
/** Bytes. */
const headerLimit = 8 * 1024

/**
 * An application that listens on a port of its own. Whatever it refuses, it refuses in one line of text.
 *
 * @param makeServer with `requireHostHeader: false`; a refusal without a body would be the answer else
 */
export function createTcpApp(
  { connectionLimit, bodyLimit = 1, headers = {} }: TcpAppOptions,
  makeServer: (handler: Parameters<typeof createServer>[1] & object) => Server | TlsServer,
): FastifyInstance {
  const app = fastify({
    // Fastify's types know one kind of server at a time, and what is asked of it here both have.
    serverFactory: handler => makeServer(handler) as RawServerDefault,
    bodyLimit,
    routerOptions: { maxParamLength: headerLimit },
    // What is on its way when the daemon ends is answered, or cut.
    return503OnClosing: false,
    frameworkErrors: (error, _request, reply) => {
      void refuse(reply, error.statusCode ?? 400, error.message)
    },
    // The edge answers.
    clientErrorHandler: () => undefined,
  })
  app.server.maxConnections = connectionLimit
  keepEdge(app.server, {
    arrival: patience,
    refusal: (status, reason) => ({ status, type: plainText, body: lineOf(status, reason) }),
  })
  app.server.prependListener('request', (_request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  })
  return app
}

/** Judges the header "authorization" of a request. */
export type ReadToken = (authorization: string | undefined) => Promise<TokenVerdict>

export interface ReadOnlyAppOptions extends Omit<TcpAppOptions, 'bodyLimit'> {
  /** Who may ask; without it whoever is on this node may. */
  readonly token?: ReadToken | undefined
}

/**
 * Of requests whose body nobody reads. Where they need no token it is on loopback, and other sites of a browser on this node are
 * kept from it; such a site knows no token.
 */
export function createReadOnlyApp({ token, ...options }: ReadOnlyAppOptions): FastifyInstance {
  const app = createTcpApp(options, handler =>
    createServer(
      { maxHeaderSize: headerLimit, keepAliveTimeout: patience, requireHostHeader: false },
      handler,
    ),
  )
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined)
      void reply.header('connection', 'close')
    if (token) return refuseWithout(token, headers, reply)
    if (!isOurHost(headers.host))
      return refuse(reply, 421, 'this is at 127.0.0.1, [::1] or localhost, and under no other name')
    if (isOfOthers(headers)) return refuse(reply, 403, 'another site may not ask here')
    return undefined
  })
  return app
}

async function refuseWithout(
  token: ReadToken,
  { authorization }: IncomingHttpHeaders,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  switch (await token(authorization)) {
    case 'shown':
      return undefined
    case 'wrong':
      return refuse(reply.header('www-authenticate', 'Bearer'), 401, 'show the token of metrics.tokenFile')
    case 'unknown':
      return refuse(reply, 503, 'this node knows no token; see the log of the daemon')
  }
}

/** Refuses, before a body is read, all but some methods of one path. */
export function serveOnly(
  app: FastifyInstance,
  { path, methods, elsewhere }: Readonly<Record<'path' | 'methods' | 'elsewhere', string>>,
): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return undefined
    // A body that comes with it is not read.
    void reply.header('connection', 'close')
    if (request.url.split('?')[0] !== path) return refuse(reply, 404, elsewhere)
    return refuse(reply.header('allow', methods), 405, `only ${methods.replace(', ', ' and ')}`)
  })
}

/** Where an address is configured, such as "metrics.listen", and what a refusal of it is called. */
interface ListenPlace {
  readonly key: string
  readonly code: ProblemCode
}

/** Throws `place.code` where the system refuses the address, as when another program has the port; may be tried again. */
export async function listenTcp(
  app: FastifyInstance,
  { host, port }: ListenAddress,
  place: ListenPlace,
  onError: (error: unknown) => void,
): Promise<void> {
  await app.ready()
  const { server } = app
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
export async function closeTcp(app: FastifyInstance): Promise<void> {
  app.server.closeAllConnections()
  await new Promise<void>(resolve => {
    app.server.close(() => {
      resolve()
    })
  })
  await app.close()
}

/** Ends a request with a status that is none of success, and one line that says why. */
export function refuse(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type(plainText).send(lineOf(status, text))
}

const plainText = 'text/plain; charset=utf-8'
const lineOf = (status: number, text: string): string => `${status} ${STATUS_CODES[status] ?? ''}: ${text}\n`

function listenProblem({ code, key }: ListenPlace, { host, port }: ListenAddress, error: unknown): Problem {
  const why = systemCode(error)
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

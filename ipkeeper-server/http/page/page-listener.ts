import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ListenAddress } from '../../host/listen-address.ts'
import { closeTcp, createReadOnlyApp, listenTcp, refuse } from '../tcp-app.ts'
import type { EventStream } from './event-stream.ts'
import type { PageFiles } from './page-files.ts'
import { isReadable, readTarget } from './page-requests.ts'

/** What a GET of the API's path and query answers, as on the socket. */
export type AskApi = (url: string) => Promise<{ readonly status: number; readonly body: string }>

export interface PageParts {
  /** undefined when the daemon runs from source. */
  readonly files: PageFiles | undefined
  readonly events: EventStream
  readonly ask: AskApi
  readonly onError: (error: unknown) => void
}

/** Browsers have up to six connections each. */
const connectionLimit = 64

/**
 * The browser runs and loads nothing but the three files of the page, and no text can become markup or code. Nobody may put
 * the page in a frame, or read it from another site.
 */
const protection = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const

/**
 * The page, and of the API what it reads, over TCP on loopback. Until there is an API it answers 503.
 */
export class PageListener {
  readonly #app = createReadOnlyApp({ connectionLimit, headers: protection })
  #parts: PageParts | undefined

  constructor() {
    this.#app.addHook('onRequest', async ({ method }, reply) =>
      method === 'GET' || method === 'HEAD'
        ? undefined
        : refuse(reply.header('allow', 'GET, HEAD'), 405, 'only GET and HEAD: nothing can be changed here'),
    )
    this.#app.get('/*', async (request, reply) =>
      this.#parts
        ? await serve(this.#parts, request, reply)
        : refuse(reply.header('retry-after', '1'), 503, 'the daemon is starting'),
    )
    this.#app.setNotFoundHandler((_request, reply) => refuse(reply, 404, elsewhere))
  }

  /** Throws IPK_PAGE_LISTEN where the system refuses the address, as when another program has the port. */
  async listen(address: ListenAddress): Promise<void> {
    const place = { key: 'page.listen', code: 'IPK_PAGE_LISTEN' } as const
    await listenTcp(this.#app, address, place, error => {
      this.#parts?.onError(error)
    })
  }

  serve(parts: PageParts): void {
    this.#parts = parts
  }

  async close(): Promise<void> {
    this.#parts?.events.close()
    await closeTcp(this.#app)
  }
}

const elsewhere = 'only the page and what it reads is here; the rest of the API is on the unix socket'

async function serve(parts: PageParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { files, events, ask, onError } = parts
  const { path, query } = readTarget(request.url) ?? { path: '', query: '' }
  const file = files && Object.hasOwn(files, path) ? files[path] : undefined
  if (file) return reply.type(file.type).send(file.text)
  if (path === '/v1/events') {
    if (request.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').send('')
    if (events.open(reply.raw)) return reply.hijack()
    return refuse(reply.header('retry-after', '10'), 503, 'too many pages are open already')
  }
  if (isReadable(path)) {
    const answer = await ask(`${path}${query}`).catch((error: unknown) => {
      onError(error)
    })
    if (!answer) return refuse(reply, 500, 'the daemon could not answer; see its log')
    return reply.code(answer.status).type('application/json; charset=utf-8').send(answer.body)
  }
  const fromSource =
    'this daemon runs from source, without the page: make build, and start dist/ipkeeper-server'
  return refuse(reply, 404, path === '/' && !files ? fromSource : elsewhere)
}

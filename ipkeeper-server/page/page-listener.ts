import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { listenProblem, refuse, type ListenAddress } from '../tcp-answers.ts'
import type { EventStream } from './event-stream.ts'
import type { PageFiles } from './page-files.ts'
import { isOfOthers, isOurHost, isReadable, readTarget } from './page-requests.ts'

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
/** Milliseconds that a request may take to arrive, and a connection may be idle. */
const patience = 5_000
const headerLimit = 8 * 1024

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
 * The page, and of the API what it reads, over TCP on loopback. The address is bound at once; until there is an API it
 * answers 503.
 */
export class PageListener {
  readonly #server: Server
  #parts: PageParts | undefined

  private constructor() {
    this.#server = createServer(
      {
        maxHeaderSize: headerLimit,
        headersTimeout: patience,
        requestTimeout: patience,
        keepAliveTimeout: patience,
        connectionsCheckingInterval: patience,
      },
      (request, response) => {
        void this.#answer(request, response)
      },
    )
    this.#server.maxConnections = connectionLimit
  }

  /** Throws IPK_PAGE_LISTEN where the system refuses the address, as when another program has the port. */
  static async open({ host, port }: ListenAddress): Promise<PageListener> {
    const listener = new PageListener()
    const server = listener.#server
    await new Promise<void>((resolve, reject) => {
      server.once('error', error => {
        reject(listenProblem('IPK_PAGE_LISTEN', 'page.listen', { host, port }, error))
      })
      server.listen({ host, port, exclusive: true }, () => {
        server.removeAllListeners('error')
        // No descriptor left for a connection, or the like: it is the connection that fails, not the daemon.
        server.on('error', error => {
          listener.#parts?.onError(error)
        })
        resolve()
      })
    })
    return listener
  }

  serve(parts: PageParts): void {
    this.#parts = parts
  }

  async close(): Promise<void> {
    this.#parts?.events.close()
    this.#server.closeAllConnections()
    await new Promise<void>(resolve => {
      this.#server.close(() => {
        resolve()
      })
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(protection)) response.setHeader(name, value)
    // Whatever body comes with a request is read by nobody.
    if (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined)
      response.setHeader('connection', 'close')
    if (!isOurHost(request.headers.host)) {
      refuse(response, 421, 'this page is at 127.0.0.1, [::1] or localhost, and under no other name')
      return
    }
    if (isOfOthers(request.headers)) {
      refuse(response, 403, 'another site may not ask here')
      return
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      refuse(response, 405, 'only GET and HEAD: nothing can be changed here')
      return
    }
    if (!this.#parts) {
      response.setHeader('retry-after', '1')
      refuse(response, 503, 'the daemon is starting')
      return
    }
    const { path, query } = readTarget(request.url ?? '') ?? { path: '', query: '' }
    await serve(this.#parts, { path, query, head: request.method === 'HEAD' }, response)
  }
}

interface Asked {
  readonly path: string
  readonly query: string
  readonly head: boolean
}

async function serve(
  parts: PageParts,
  { path, query, head }: Asked,
  response: ServerResponse,
): Promise<void> {
  const { files, events, ask, onError } = parts
  const file = files && Object.hasOwn(files, path) ? files[path] : undefined
  if (file) {
    send(response, 200, file.type, file.text)
  } else if (path === '/v1/events') {
    if (head) send(response, 200, 'text/event-stream; charset=utf-8', '')
    else if (!events.open(response)) {
      response.setHeader('retry-after', '10')
      refuse(response, 503, 'too many pages are open already')
    }
  } else if (isReadable(path)) {
    try {
      const { status, body } = await ask(`${path}${query}`)
      send(response, status, 'application/json; charset=utf-8', body)
    } catch (error) {
      onError(error)
      refuse(response, 500, 'the daemon could not answer; see its log')
    }
  } else if (path === '/' && !files) {
    refuse(
      response,
      404,
      'this daemon runs from source, without the page: make build, and start dist/ipkeeper-server',
    )
  } else {
    refuse(
      response,
      404,
      'only the page and what it reads is here; the rest of the API is on the unix socket',
    )
  }
}

/** Node leaves the body of an answer to HEAD away. */
function send(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

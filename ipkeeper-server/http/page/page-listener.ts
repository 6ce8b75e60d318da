import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { closeTcp, createReadOnlyServer, listenTcp, refuse, type ListenAddress } from '../tcp-server.ts'
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
  readonly #server: Server
  #parts: PageParts | undefined

  constructor() {
    this.#server = createReadOnlyServer(
      connectionLimit,
      (request, response) => {
        void this.#answer(request, response)
      },
      protection,
    )
  }

  /** Throws IPK_PAGE_LISTEN where the system refuses the address, as when another program has the port. */
  async listen(address: ListenAddress): Promise<void> {
    const place = { key: 'page.listen', code: 'IPK_PAGE_LISTEN' } as const
    await listenTcp(this.#server, address, place, error => {
      this.#parts?.onError(error)
    })
  }

  serve(parts: PageParts): void {
    this.#parts = parts
  }

  async close(): Promise<void> {
    this.#parts?.events.close()
    await closeTcp(this.#server)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
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

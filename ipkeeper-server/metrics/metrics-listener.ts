import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { listenProblem, refuse, type ListenAddress } from '../tcp-answers.ts'
import type { MetricsPage } from './metric-registry.ts'

/** One Prometheus needs one connection; beyond so many, Node closes new ones unanswered. */
const connectionLimit = 16
/** Milliseconds that a request may take to arrive, and a connection may be idle. */
const patience = 5_000
const headerLimit = 8 * 1024

/** GET /metrics over TCP, and nothing else. The address is bound at once; until there is a page it answers 503. */
export class MetricsListener {
  readonly #server: Server
  #page: (() => Promise<MetricsPage>) | undefined
  #onError: (error: unknown) => void = () => undefined

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

  /** Throws IPK_METRICS_LISTEN where the system refuses the address, as when another program has the port. */
  static async open({ host, port }: ListenAddress): Promise<MetricsListener> {
    const listener = new MetricsListener()
    const server = listener.#server
    await new Promise<void>((resolve, reject) => {
      server.once('error', error => {
        reject(listenProblem('IPK_METRICS_LISTEN', 'metrics.listen', { host, port }, error))
      })
      server.listen({ host, port, exclusive: true }, () => {
        server.removeAllListeners('error')
        // No descriptor left for a connection, or the like: it is the connection that fails, not the daemon.
        server.on('error', error => {
          listener.#onError(error)
        })
        resolve()
      })
    })
    return listener
  }

  /** From now on there is a page. `onError` hears of one that could not be made. */
  serve(page: () => Promise<MetricsPage>, onError: (error: unknown) => void): void {
    this.#page = page
    this.#onError = onError
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>(resolve => {
      this.#server.close(() => {
        resolve()
      })
    })
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Whatever body comes with a request is read by nobody.
    if (request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined)
      response.setHeader('connection', 'close')
    const [path] = (request.url ?? '').split('?')
    if (path !== '/metrics') {
      refuse(response, 404, 'only /metrics is here; the rest of the API is on the unix socket')
      return
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      refuse(response, 405, 'only GET and HEAD')
      return
    }
    if (!this.#page) {
      response.setHeader('retry-after', '1')
      refuse(response, 503, 'the daemon is starting')
      return
    }
    try {
      const { contentType, text } = await this.#page()
      response.writeHead(200, { 'content-type': contentType, 'content-length': Buffer.byteLength(text) })
      // Node leaves the body of an answer to HEAD away.
      response.end(text)
    } catch (error) {
      this.#onError(error)
      if (!response.headersSent)
        refuse(response, 500, 'the page could not be made; see the log of the daemon')
      else response.destroy()
    }
  }
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { ReadMetrics } from './routes/metrics.ts'
import { closeTcp, createReadOnlyServer, listenTcp, refuse, type ListenAddress } from './tcp-server.ts'

/** One Prometheus needs one connection. */
const connectionLimit = 16

/** GET /metrics over TCP, and nothing else. Until there is a page it answers 503. */
export class MetricsListener {
  readonly #server: Server
  #page: ReadMetrics | undefined
  #onError: (error: unknown) => void = () => undefined

  constructor() {
    this.#server = createReadOnlyServer(connectionLimit, (request, response) => {
      void this.#answer(request, response)
    })
  }

  /** Throws IPK_METRICS_LISTEN where the system refuses the address, as when another program has the port. */
  async listen(address: ListenAddress): Promise<void> {
    const place = { key: 'metrics.listen', code: 'IPK_METRICS_LISTEN' } as const
    await listenTcp(this.#server, address, place, error => {
      this.#onError(error)
    })
  }

  /** From now on there is a page. `onError` hears of one that could not be made. */
  serve(page: ReadMetrics, onError: (error: unknown) => void): void {
    this.#page = page
    this.#onError = onError
  }

  async close(): Promise<void> {
    await closeTcp(this.#server)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
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

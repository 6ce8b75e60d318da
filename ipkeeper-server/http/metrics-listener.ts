import type { FastifyReply } from 'fastify'
import type { ListenAddress } from '../host/listen-address.ts'
import type { ReadMetrics } from './routes/metrics.ts'
import { judgeToken } from './bearer-token.ts'
import { closeTcp, createReadOnlyApp, listenTcp, refuse, serveOnly } from './tcp-app.ts'

/** One Prometheus needs one connection. */
const connectionLimit = 16

/** GET /metrics over TCP, and nothing else. Until there is a page it answers 503. */
export class MetricsListener {
  readonly #app
  #page: ReadMetrics | undefined
  #onError: (error: unknown) => void = () => undefined

  /** @param tokenFile what who asks has to show; without it whoever is on this node may ask */
  constructor(tokenFile?: string) {
    this.#app = createReadOnlyApp({
      connectionLimit,
      token:
        tokenFile === undefined
          ? undefined
          : authorization =>
              judgeToken(tokenFile, authorization, error => {
                this.#onError(error)
              }),
    })
    serveOnly(this.#app, {
      ...{ path: '/metrics', methods: 'GET, HEAD' },
      elsewhere: 'only /metrics is here; the rest of the API is on the unix socket',
    })
    this.#app.get('/metrics', async (_request, reply) => await this.#answer(reply))
  }

  /** Throws IPK_METRICS_LISTEN where the system refuses the address, as when another program has the port. */
  async listen(address: ListenAddress): Promise<void> {
    const place = { key: 'metrics.listen', code: 'IPK_METRICS_LISTEN' } as const
    await listenTcp(this.#app, address, place, error => {
      this.#onError(error)
    })
  }

  /** From now on there is a page. `onError` hears of one that could not be made. */
  serve(page: ReadMetrics, onError: (error: unknown) => void): void {
    this.#page = page
    this.#onError = onError
  }

  async close(): Promise<void> {
    await closeTcp(this.#app)
  }

  async #answer(reply: FastifyReply): Promise<FastifyReply> {
    if (!this.#page) return refuse(reply.header('retry-after', '1'), 503, 'the daemon is starting')
    const page = await this.#page().catch((error: unknown) => {
      this.#onError(error)
    })
    if (!page) return refuse(reply, 500, 'the page could not be made; see the log of the daemon')
    return reply.type(page.contentType).send(page.text)
  }
}

import { createServer, type Server } from 'node:https'
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify'
import type { ListenAddress } from '../../host/listen-address.ts'
import { closeTcp, createTcpApp, listenTcp, patience, refuse, serveOnly } from '../tcp-app.ts'
import type { CertificateFiles } from './certificate-files.ts'
import {
  answerAdmission,
  readAdmission,
  type Admission,
  type AdmissionVerdict,
} from './plan/admission-review.ts'

export interface WebhookOptions {
  readonly certificate: Pick<CertificateFiles, 'current'>
  /** The API server waits for it, at most as long as its configuration says. */
  readonly judge: (admission: Admission) => Promise<AdmissionVerdict>
  readonly onVerdict: (admission: Admission, verdict: AdmissionVerdict) => void
  readonly onError: (error: unknown) => void
  /** What a reply advises, as it works where this daemon runs. Absent: as it is written. */
  readonly remedy?: (text: string) => string
}

/** An API server needs few connections, and there are few API servers; beyond so many, Node closes new ones. */
const connectionLimit = 64
/** Milliseconds that a connection may be idle: API servers keep theirs for the next review. */
const idle = 90_000
const headerLimit = 16 * 1024
/** Two objects of the API's own limit (etcd's 1.5 MiB), and what is around them. */
const bodyLimit = 4 * 1024 * 1024

const path = '/validate'

/**
 * POST /validate over TLS, for an API server, and nothing else. Without a certificate that can be used no connection comes
 * about; then the API server goes by its `failurePolicy`.
 */
export class WebhookListener {
  readonly #options: WebhookOptions
  readonly #app: FastifyInstance

  constructor(options: WebhookOptions) {
    this.#options = options
    this.#app = createTcpApp({ connectionLimit, bodyLimit }, handler => {
      const server = createServer(
        {
          maxHeaderSize: headerLimit,
          keepAliveTimeout: idle,
          requireHostHeader: false,
          handshakeTimeout: patience,
          minVersion: 'TLSv1.2',
        },
        handler,
      )
      useNewest(server, options.certificate)
      return server
    })
    serveOnly(this.#app, { path, methods: 'POST', elsewhere: `only ${path} is here` })
    this.#app.removeAllContentTypeParsers()
    this.#app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
      done(null, body)
    })
    this.#app.post(path, async ({ body }, reply) => await this.#answer(body, reply))
    this.#app.setErrorHandler<FastifyError>((error, _request, reply) => this.#refuse(error, reply))
  }

  /** Throws IPK_WEBHOOK_LISTEN where the system refuses the address, as when another program has the port. */
  async listen(address: ListenAddress): Promise<void> {
    const place = { key: 'webhook.listen', code: 'IPK_WEBHOOK_LISTEN' } as const
    await listenTcp(this.#app, address, place, this.#options.onError)
  }

  async close(): Promise<void> {
    await closeTcp(this.#app)
  }

  async #answer(body: unknown, reply: FastifyReply): Promise<FastifyReply> {
    const admission = readAdmission(parse(String(body)))
    if (!admission) return refuse(reply, 400, 'this is no AdmissionReview of admission.k8s.io/v1')
    const { judge, onVerdict, remedy } = this.#options
    const verdict = await judge(admission)
    onVerdict(admission, verdict)
    return reply
      .type('application/json')
      .send(JSON.stringify(answerAdmission(admission.uid, verdict, remedy)))
  }

  #refuse(error: FastifyError, reply: FastifyReply): FastifyReply {
    const { statusCode = 500, message } = error
    // Of a body that comes with it nothing more is read.
    void reply.header('connection', 'close')
    if (statusCode === 413) return refuse(reply, 413, `a review has at most ${bodyLimit} bytes`)
    // The API server has gone, or what it sends is no request: nothing is wrong here.
    if (statusCode < 500) return refuse(reply, statusCode, message)
    this.#options.onError(error)
    return refuse(reply, 500, 'the review could not be answered; see the log of the daemon')
  }
}

/** Every new connection has the certificate that is in force then. */
function useNewest(server: Server, certificate: WebhookOptions['certificate']): void {
  let inForce: string | undefined
  // Before TLS begins on it.
  server.prependListener('connection', () => {
    const pair = certificate.current()
    if (!pair || pair.cert === inForce) return
    server.setSecureContext({ cert: pair.cert, key: pair.key, minVersion: 'TLSv1.2' })
    inForce = pair.cert
  })
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

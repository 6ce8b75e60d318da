import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { keepEdge } from '../http-edge.ts'
import { closeTcp, listenTcp, patience, plainRefusal, refuse, type ListenAddress } from '../tcp-server.ts'
import type { CertificateFiles } from './certificate-files.ts'
import { answerAdmission, readAdmission, type Admission, type Verdict } from './plan/admission-review.ts'

export interface WebhookOptions {
  readonly certificate: CertificateFiles
  /** The API server waits for it, at most as long as its configuration says. */
  readonly judge: (admission: Admission) => Promise<Verdict>
  readonly onVerdict: (admission: Admission, verdict: Verdict) => void
  readonly onError: (error: unknown) => void
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
 * about; then the API server goes by its `failurePolicy`. Every new connection has the certificate that is in force then.
 */
export class WebhookListener {
  readonly #options: WebhookOptions
  readonly #server: Server

  constructor(options: WebhookOptions) {
    this.#options = options
    this.#server = createServer(
      {
        maxHeaderSize: headerLimit,
        keepAliveTimeout: idle,
        requireHostHeader: false,
        handshakeTimeout: patience,
        minVersion: 'TLSv1.2',
      },
      (request, response) => {
        void this.#answer(request, response)
      },
    )
    this.#server.maxConnections = connectionLimit
    keepEdge(this.#server, { arrival: patience, refusal: plainRefusal })
    let inForce: string | undefined
    // Before TLS begins on it.
    this.#server.prependListener('connection', () => {
      const pair = options.certificate.current()
      if (!pair || pair.cert === inForce) return
      this.#server.setSecureContext({ cert: pair.cert, key: pair.key, minVersion: 'TLSv1.2' })
      inForce = pair.cert
    })
  }

  /** Throws IPK_WEBHOOK_LISTEN where the system refuses the address, as when another program has the port. */
  async listen(address: ListenAddress): Promise<void> {
    const place = { key: 'webhook.listen', code: 'IPK_WEBHOOK_LISTEN' } as const
    await listenTcp(this.#server, address, place, this.#options.onError)
  }

  async close(): Promise<void> {
    await closeTcp(this.#server)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [asked] = (request.url ?? '').split('?')
    if (asked !== path) {
      turnAway(response, 404, `only ${path} is here`)
      return
    }
    if (request.method !== 'POST') {
      response.setHeader('allow', 'POST')
      turnAway(response, 405, 'only POST')
      return
    }
    try {
      const text = await readBody(request)
      if (text === undefined) {
        turnAway(response, 413, `a review has at most ${bodyLimit} bytes`)
        return
      }
      const admission = readAdmission(parse(text))
      if (!admission) {
        turnAway(response, 400, 'this is no AdmissionReview of admission.k8s.io/v1')
        return
      }
      const verdict = await this.#options.judge(admission)
      this.#options.onVerdict(admission, verdict)
      const body = JSON.stringify(answerAdmission(admission.uid, verdict))
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      })
      response.end(body)
    } catch (error) {
      // The API server has gone: nobody waits for an answer.
      if (request.destroyed && !request.complete) return
      this.#options.onError(error)
      if (response.headersSent) response.destroy()
      else turnAway(response, 500, 'the review could not be answered; see the log of the daemon')
    }
  }
}

/** undefined for one that is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > bodyLimit) return undefined
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Of a body that comes with it nothing more is read. */
function turnAway(response: ServerResponse, status: number, text: string): void {
  response.setHeader('connection', 'close')
  refuse(response, status, text)
}

import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** A whole reply to what never became a request. */
export interface EarlyReply {
  readonly status: number
  /** Content-Type. */
  readonly type: string
  readonly body: string
}

export interface EdgeOptions {
  /**
   * Milliseconds in which a request has to be there as a whole: the first one of a connection from when that was made,
   * later ones from their first byte on, give or take `lookEvery`.
   */
  readonly arrival: number
  /** What is said; `status` is what HTTP would say. */
  readonly refusal: (status: number, reason: string) => EarlyReply
}

/** Milliseconds between looks at a connection that is kept for another request. A server without connections has no timer. */
const lookEvery = 1_000

/** What is refused before it is a request, by the code of Node's error; 400 where it has none here. */
const statusOf: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
}

/**
 * Sees to what Node would do by itself with a connection: end one without a word (CONNECT), answer without a body (Expect,
 * what is no HTTP), and look only every 30 s whether a request takes too long. The server is to be made with
 * `requireHostHeader: false`, which is answered without a body as well.
 */
export function keepEdge(server: Server | TlsServer, { arrival, refusal }: EdgeOptions): void {
  const connections = new WeakMap<Duplex, Arrival>()
  const refuse = (socket: Duplex, status: number, reason: string): void => {
    // Nobody is there to read a reply, or one has begun that this would be taken for a part of.
    if (!socket.writable || connections.get(socket)?.isBeingAnswered === true) socket.destroy()
    else socket.end(replyText(refusal(status, reason)), () => socket.destroy())
  }
  server.requestTimeout = 0
  server.headersTimeout = 0
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    const late = (): void => {
      refuse(socket, 408, `it was not there as a whole within ${arrival / 1000} s`)
    }
    connections.set(socket, new Arrival(socket, arrival, late))
  })
  server.prependListener('request', (request, response) => {
    connections.get(request.socket)?.begin(request, response)
  })
  server.on('connect', ({ url }, socket) => {
    refuse(socket, 405, `no CONNECT ${(url ?? '').slice(0, 200)}: this is no proxy`)
  })
  // A server may ignore what it is expected to do (RFC 9110, section 10.1.1).
  server.on('checkExpectation', (request, response) => {
    server.emit('request', request, response)
  })
  server.on('clientError', (error: Error & { readonly code?: string }, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy()
    else refuse(socket, statusOf[error.code ?? ''] ?? 400, error.message)
  })
}

/** How far the request of a connection has come that is to arrive next. */
class Arrival {
  readonly #socket: Socket
  readonly #patience: number
  readonly #late: () => void
  #current: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined
  /** Bytes that had come when the last request was answered. */
  #answeredAt = 0
  #timer: NodeJS.Timeout

  constructor(socket: Socket, patience: number, late: () => void) {
    this.#socket = socket
    this.#patience = patience
    this.#late = late
    this.#timer = this.#expectWhole()
    socket.once('close', () => {
      clearTimeout(this.#timer)
    })
  }

  get isBeingAnswered(): boolean {
    return this.#current?.response.headersSent === true
  }

  /** Its head is there. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    this.#current = { request, response }
    response.once('finish', () => {
      // Another one may have come behind it.
      if (this.#current?.response !== response) return
      this.#current = undefined
      this.#answeredAt = this.#socket.bytesRead
      clearTimeout(this.#timer)
      this.#timer = this.#expectNext()
    })
  }

  #expectWhole(): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.#current?.request.complete !== true) this.#late()
    }, this.#patience).unref()
  }

  #expectNext(): NodeJS.Timeout {
    return setTimeout(() => {
      const begun = this.#current !== undefined || this.#socket.bytesRead > this.#answeredAt
      this.#timer = begun ? this.#expectWhole() : this.#expectNext()
    }, lookEvery).unref()
  }
}

function replyText({ status, type, body }: EarlyReply): string {
  return (
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: ${type}\r\n` +
    `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`
  )
}

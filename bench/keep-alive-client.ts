import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createReplyReader, type HttpReply } from '../plugin/http-reply.ts'

const longestWaitMs = 30_000

/**
 * One connection to the daemon that stays open, one request at a time. Bare node:net with the plugin's own reply
 * reader: what a whole HTTP client costs would be added to both sides of every ratio and make it look better. A daemon
 * ends what was idle for long; the next request has a new connection then.
 */
export class KeepAliveClient {
  readonly #path: string
  #socket: Socket
  #waiting: PromiseWithResolvers<HttpReply> | undefined
  #reader = createReplyReader()

  private constructor(path: string, socket: Socket) {
    this.#path = path
    this.#socket = socket
    this.#hear(socket)
  }

  #hear(socket: Socket): void {
    socket.setTimeout(longestWaitMs, () => {
      this.#fail(new Error(`the daemon did not answer within ${longestWaitMs / 1e3} s`))
    })
    socket.on('error', error => {
      this.#fail(error)
    })
    socket.on('close', () => {
      this.#fail(new Error('the daemon closed the connection'))
    })
    socket.on('data', chunk => {
      try {
        const reply = this.#reader.push(chunk)
        if (!reply) return
        this.#reader = createReplyReader()
        this.#waiting?.resolve(reply)
        this.#waiting = undefined
      } catch (error) {
        this.#fail(error)
      }
    })
  }

  /** Connects to a unix socket. */
  static async connect(path: string): Promise<KeepAliveClient> {
    return new KeepAliveClient(path, await openSocket(path))
  }

  /** Resolves when a 200 has come whole; rejects with what came otherwise. */
  async post(path: string, body: string): Promise<void> {
    if (this.#waiting) throw new Error('one request at a time')
    if (this.#socket.destroyed) {
      this.#socket = await openSocket(this.#path)
      this.#hear(this.#socket)
    }
    this.#waiting = Promise.withResolvers<HttpReply>()
    const { promise } = this.#waiting
    this.#socket.write(
      `POST ${path} HTTP/1.1\r\nHost: ipkeeper\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    const { status, body: answer } = await promise
    if (status !== 200) throw new Error(`${path}: status ${status}: ${answer.toString()}`)
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  #fail(error: unknown): void {
    this.#waiting?.reject(error)
    this.#waiting = undefined
    this.#socket.destroy()
  }
}

async function openSocket(path: string): Promise<Socket> {
  const socket = connect({ path })
  await once(socket, 'connect')
  return socket
}

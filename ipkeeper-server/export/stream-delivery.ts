import { connect, isIP, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import type { TlsMaterial } from '../host/tls-material.ts'
import { usualLimits, type Delivery, type DeliveryLimits, type DeliveryTerms } from './delivery.ts'
import type { Receiver } from './plan/receiver.ts'

/** Frames of RFC 6587 and 5425: each line behind its length, so that nothing in it can end it. Lines are ASCII. */
const framed = (lines: readonly string[]): string => lines.map(line => `${line.length} ${line}`).join('')

/**
 * Connects by TCP, or by TLS where there is material for it. Resolves when lines can be sent.
 *
 * Syslog has no acknowledgements, and what the kernel has taken may never be read. So the connection is closed by this side first: a
 * receiver that has read all closes it then without an error, while one that ends with something unread resets it.
 */
export async function openStream(
  { host, port }: Pick<Receiver, 'host' | 'port'>,
  tls: TlsMaterial | undefined,
  { limits = usualLimits, signal }: DeliveryTerms = {},
): Promise<Delivery> {
  const name = tls?.servername ?? (isIP(host) === 0 ? host : undefined)
  const socket = tls
    ? connectTls({
        ...{ host, port, ca: tls.ca, cert: tls.cert, key: tls.key, minVersion: 'TLSv1.2' },
        ...(name !== undefined && { servername: name }),
      })
    : connect({ host, port })
  const delivery = new StreamDelivery(socket, limits)
  signal?.addEventListener('abort', delivery.abort, { once: true })
  if (signal?.aborted) delivery.abort()
  await delivery.opened(tls ? 'secureConnect' : 'connect')
  return delivery
}

/** Milliseconds at least, and at most, between the last line and the end of the connection. */
const [shortestPause, longestPause] = [50, 2_000]

/** A connection from its beginning to its end, which comes once and for one reason. */
class StreamDelivery implements Delivery {
  readonly #socket: Socket
  readonly #limits: DeliveryLimits
  /** Rejects with what has ended the connection before its time. */
  readonly #failed: Promise<never>
  #fail: (error: Error) => void = () => undefined
  /** Resolves when the receiver has closed after this side has. */
  readonly #closed: Promise<void>
  #isFinishing = false
  readonly #begun = performance.now()
  /** Milliseconds in which a line has gone there and an answer has come back. */
  #roundTrip = 0

  constructor(socket: Socket, limits: DeliveryLimits) {
    this.#socket = socket
    this.#limits = limits
    this.#failed = new Promise((_resolve, reject) => {
      this.#fail = error => {
        reject(error)
        socket.destroy()
      }
    })
    // Whoever waits hears of it; nobody may.
    this.#failed.catch(() => undefined)
    this.#closed = new Promise(resolve => {
      socket.once('end', () => {
        if (this.#isFinishing) resolve()
        else this.#fail(new Error('it closed the connection before all was sent'))
      })
    })
    socket.on('error', error => {
      this.#fail(error)
    })
    socket.on('close', () => {
      this.#fail(new Error('the connection was lost'))
    })
    socket.on('data', () => {
      this.#fail(new Error('it answers, and syslog knows no answers: is that the port of a syslog receiver?'))
    })
  }

  async opened(event: 'connect' | 'secureConnect'): Promise<void> {
    const connected = new Promise<void>(resolve => this.#socket.once(event, resolve))
    const { connect: limit } = this.#limits
    await this.#inTime(connected, limit, `no connection within ${limit / 1000} s`)
    this.#roundTrip = performance.now() - this.#begun
  }

  async send(lines: readonly string[]): Promise<void> {
    const taken = new Promise<void>(resolve => {
      this.#socket.write(framed(lines), error => {
        // What is wrong is told by an event of its own.
        if (!error) resolve()
      })
    })
    const { answer } = this.#limits
    await this.#inTime(taken, answer, `it has read nothing for ${answer / 1000} s`)
  }

  async finish(): Promise<void> {
    // A receiver that closes by itself before the last lines have come there must not look like one that closes after them.
    const pause = Math.min(Math.max(2 * this.#roundTrip, shortestPause), longestPause)
    await Promise.race([delay(pause), this.#failed])
    this.#isFinishing = true
    this.#socket.end()
    const { answer } = this.#limits
    await this.#inTime(
      this.#closed,
      answer,
      `it did not close the connection within ${answer / 1000} s after the last line, so it may not have read it`,
    )
    this.#socket.destroy()
  }

  readonly abort = (): void => {
    this.#fail(new Error('given up'))
  }

  /** Rejects, and ends the connection, when the time is over. */
  async #inTime(what: Promise<void>, milliseconds: number, late: string): Promise<void> {
    const timer = setTimeout(() => {
      this.#fail(new Error(late))
    }, milliseconds).unref()
    try {
      await Promise.race([what, this.#failed])
    } finally {
      clearTimeout(timer)
    }
  }
}

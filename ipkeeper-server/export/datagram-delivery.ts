import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Delivery, DeliveryTerms } from './delivery.ts'
import type { Receiver } from './plan/receiver.ts'

/** Milliseconds in which a machine that is there says that nobody has the port. */
const refusalWithin = 200

/**
 * Sends a line in each datagram (RFC 5426). Of one that is lost nobody hears; only that nobody has the port is heard, where the machine
 * of the receiver says so.
 */
export async function openDatagrams(
  { host, port }: Pick<Receiver, 'host' | 'port'>,
  { signal }: Pick<DeliveryTerms, 'signal'> = {},
): Promise<Delivery> {
  if (signal?.aborted) throw new Error('given up')
  const { address, family } = await Promise.race([aborted(signal), lookup(host)])
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  const delivery = new DatagramDelivery(socket)
  signal?.addEventListener('abort', delivery.abort, { once: true })
  await delivery.opened(port, address)
  return delivery
}

/** Rejects when the signal does; the search for a name cannot be ended. */
async function aborted(signal: AbortSignal | undefined): Promise<never> {
  return await new Promise((_resolve, reject) => {
    signal?.addEventListener(
      'abort',
      () => {
        reject(new Error('given up'))
      },
      { once: true },
    )
  })
}

class DatagramDelivery implements Delivery {
  readonly #socket: Socket
  readonly #failed: Promise<never>
  #fail: (error: Error) => void = () => undefined
  #isClosed = false

  constructor(socket: Socket) {
    this.#socket = socket
    this.#failed = new Promise((_resolve, reject) => {
      this.#fail = reject
    })
    this.#failed.catch(() => undefined)
    socket.on('error', error => {
      this.#fail(error)
    })
  }

  async opened(port: number, address: string): Promise<void> {
    const connected = new Promise<void>(resolve => {
      this.#socket.connect(port, address, resolve)
    })
    await this.#unlessFailed(connected)
  }

  async send(lines: readonly string[]): Promise<void> {
    for (const line of lines)
      await this.#unlessFailed(
        new Promise((resolve, reject) => {
          this.#socket.send(line, error => {
            if (error) reject(error)
            else resolve()
          })
        }),
      )
  }

  async finish(): Promise<void> {
    await this.#unlessFailed(delay(refusalWithin))
    this.#close()
  }

  readonly abort = (): void => {
    this.#fail(new Error('given up'))
    this.#close()
  }

  async #unlessFailed(what: Promise<void>): Promise<void> {
    try {
      await Promise.race([what, this.#failed])
    } catch (error) {
      this.#close()
      throw error
    }
  }

  #close(): void {
    if (!this.#isClosed) this.#socket.close()
    this.#isClosed = true
  }
}

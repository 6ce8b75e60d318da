import { linkQuery } from './line-messages.ts'
import { NetlinkFault, type RouteSockets } from './route-sockets.ts'

export interface SharedSocketsOptions {
  /** Called once, when there is something to do; throws, in plain words, why there are none. */
  readonly load: () => Promise<RouteSockets>
  /** From now on everything is left to `ip`. Told once. */
  readonly onLeftToIp: (error: unknown) => void
  /** How long `load` may take. Default: 5 s, since it writes a file and asks the kernel, and either may hang. */
  readonly loadMs?: number
}

/** The sockets of this process, for all who use netlink, until one of them finds that it does not work. */
export class SharedSockets {
  readonly #options: SharedSocketsOptions
  #loading: Promise<RouteSockets | undefined> | undefined
  #isLeft = false

  constructor(options: SharedSocketsOptions) {
    this.#options = options
  }

  /** Resolves to undefined where everything is left to `ip`. */
  async get(): Promise<RouteSockets | undefined> {
    const { load, loadMs = 5_000 } = this.#options
    this.#loading ??= before(loadMs, load().then(provenSockets)).catch((error: unknown) => {
      this.leave(error)
      return undefined
    })
    return await this.#loading
  }

  leave(error: unknown): void {
    this.#loading = Promise.resolve(undefined)
    if (!this.#isLeft) this.#options.onLeftToIp(error)
    this.#isLeft = true
  }
}

/** Rejects when it has not ended by then; it is not ended by that. */
async function before<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new NetlinkFault(`not ready within ${milliseconds / 1000} s`))
  }, milliseconds)
  return await Promise.race([work, promise]).finally(() => {
    clearTimeout(timer)
  })
}

/** Asks for the one link that every namespace has, before anything is changed in this way. */
async function provenSockets(sockets: RouteSockets): Promise<RouteSockets> {
  const socket = sockets.open()
  try {
    const { errno } = await socket.ask(linkQuery('lo'))
    if (errno !== 0) throw new NetlinkFault(`the kernel does not tell of its links: ${sockets.textOf(errno)}`)
    return sockets
  } finally {
    socket.close()
  }
}

import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { toProblem, type Problem } from '../../shared/problem/problem.ts'
import { KeptFolder } from '../host/kept-folder.ts'
import { makeFolder } from '../host/make-folder.ts'
import { listenUnix, lookAtSocket, makeSocket } from './listen-unix.ts'

export interface KeptSocketOptions {
  readonly app: FastifyInstance
  readonly path: string
  /** It had gone, and has been made anew. */
  readonly onMade: () => void
  /** It has gone and cannot be made now, or its folder cannot be watched; told once, and tried again. */
  readonly onProblem: (problem: Problem) => void
}

/** Milliseconds that somebody has to take the folder away as well. */
const restoreAfter = 100
/** Milliseconds until one is tried again whose place somebody has, or that cannot be made. */
const retryAfter = 5_000

/**
 * The daemon's socket: who takes its file away, or the folder, takes the way to the daemon away and nothing else, so both
 * are made anew. What somebody else has put in its place is left alone while it lives.
 */
export class KeptSocket {
  readonly #options: KeptSocketOptions
  readonly #folder: KeptFolder
  /** Of the file that leads to us. */
  #own: string | undefined
  /** Those made since the first, whose file is gone. Connections of each are the application's. */
  readonly #later: Server[] = []
  #looking: Promise<void> | undefined
  #again = false
  #timer: NodeJS.Timeout | undefined
  #told: string | undefined
  #closed = false

  private constructor(options: KeptSocketOptions) {
    const { path, onProblem } = options
    this.#options = options
    this.#folder = new KeptFolder({
      path: dirname(path),
      make: () => {
        makeFolder(dirname(path))
      },
      onChange: () => {
        this.#look()
      },
      onError: error => {
        onProblem(toProblem(error))
      },
    })
  }

  /** Listens, and sees to it from then on. Throws what listenUnix throws. */
  static async open(options: KeptSocketOptions): Promise<KeptSocket> {
    const kept = new KeptSocket(options)
    await listenUnix(options.app, options.path)
    kept.#own = lookAtSocket(options.path)?.identity
    kept.#folder.open()
    return kept
  }

  /** Resolves when the connections of sockets that were made anew have ended; those of the first are the application's. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#folder.close()
    await this.#looking
    await Promise.all(this.#later.map(server => once(server.close(), 'close')))
  }

  #look(): void {
    this.#again = true
    this.#looking ??= this.#lookUntilQuiet().finally(() => (this.#looking = undefined))
  }

  async #lookUntilQuiet(): Promise<void> {
    while (this.#again && !this.#closed) {
      this.#again = false
      try {
        if (this.#isThere()) continue
        await delay(restoreAfter)
        if (this.#isThere()) continue
        await this.#makeAnew()
        this.#told = undefined
      } catch (error) {
        this.#tryLater(toProblem(error))
      }
    }
  }

  /** Also where nobody needs it any more. */
  #isThere(): boolean {
    if (this.#closed) return true
    return this.#own !== undefined && lookAtSocket(this.#options.path)?.identity === this.#own
  }

  async #makeAnew(): Promise<void> {
    const { app, path, onMade } = this.#options
    const server = createServer({ allowHalfOpen: true }, connection => {
      app.server.emit('connection', connection)
    })
    await makeSocket(path, async () => {
      await once(server.listen(path), 'listening')
    })
    this.#own = lookAtSocket(path)?.identity
    this.#later.push(server)
    onMade()
  }

  #tryLater(problem: Problem): void {
    if (this.#told !== problem.message) this.#options.onProblem(problem)
    this.#told = problem.message
    clearTimeout(this.#timer)
    if (this.#closed) return
    this.#timer = setTimeout(() => {
      this.#look()
    }, retryAfter)
  }
}

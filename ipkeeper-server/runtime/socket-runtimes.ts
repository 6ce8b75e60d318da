import { statSync } from 'node:fs'
import { runtimeSockets } from '../../shared/paths.ts'
import { Problem } from '../../shared/problem/problem.ts'
import type { CriClient } from './cri-client.ts'
import type { ContainerRuntimes, RuntimeAnswer, RuntimeCondition, RuntimeVersion } from './sandboxes.ts'

/** What the runtime of a socket says of itself, or why it says nothing. */
export type SocketVersion = { readonly socket: string } & (RuntimeVersion | { readonly fault: string })

/** "absent" also for a path that is no socket. */
function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket()
  } catch {
    return false
  }
}

function awayProblem(answers: readonly RuntimeAnswer[]): Problem | undefined {
  const away = answers.flatMap(answer =>
    answer.state === 'failed' ? [`${answer.socket}: ${answer.reason}`] : [],
  )
  return away.length === 0
    ? undefined
    : new Problem('IPK_RUNTIME_UNREACHABLE', `the container runtime cannot be asked: ${away.join('; ')}`)
}

/**
 * Runtimes by their sockets. One that was named has to be there, or it counts as failed; of the usual ones those count
 * that are there. gRPC is loaded with the first socket that is found.
 */
export class SocketRuntimes implements ContainerRuntimes {
  readonly #sockets: readonly string[]
  readonly #named: boolean
  readonly #onAway: (problem: Problem) => void
  readonly #clients = new Map<string, CriClient>()

  /**
   * @param sockets absolute paths; undefined: the usual ones
   * @param onAway hears of those that could not be asked
   */
  constructor(sockets: readonly string[] | undefined, onAway: (problem: Problem) => void = () => undefined) {
    this.#sockets = sockets ?? runtimeSockets
    this.#named = sockets !== undefined
    this.#onAway = onAway
  }

  async list(): Promise<readonly RuntimeAnswer[]> {
    const present = this.#sockets.filter(socket => this.#named || isSocket(socket))
    const answers = await Promise.all(present.map(socket => this.#list(socket)))
    const away = awayProblem(answers)
    if (away) this.#onAway(away)
    return answers
  }

  /** Throws IPK_RUNTIME_UNREACHABLE where one cannot be asked. */
  async look(): Promise<void> {
    const away = awayProblem(await this.list())
    if (away) throw away
  }

  async addressesOf(socket: string, id: string): Promise<readonly string[]> {
    return await (await this.#client(socket)).addressesOf(id)
  }

  async conditions(socket: string): Promise<readonly RuntimeCondition[]> {
    return await (await this.#client(socket)).conditions()
  }

  /** What each of them is, or why it does not say so. Never rejects. */
  async versions(): Promise<readonly SocketVersion[]> {
    const present = this.#sockets.filter(socket => this.#named || isSocket(socket))
    return await Promise.all(
      present.map(async socket => {
        try {
          return { socket, ...(await (await this.#client(socket)).version()) }
        } catch (error) {
          return { socket, fault: error instanceof Error ? error.message : String(error) }
        }
      }),
    )
  }

  close(): void {
    for (const client of this.#clients.values()) client.close()
    this.#clients.clear()
  }

  async #list(socket: string): Promise<RuntimeAnswer> {
    try {
      if (!isSocket(socket)) throw new Error('there is no such socket')
      const client = await this.#client(socket)
      return { socket, state: 'listed', sandboxes: await client.sandboxes() }
    } catch (error) {
      return { socket, state: 'failed', reason: error instanceof Error ? error.message : String(error) }
    }
  }

  async #client(socket: string): Promise<CriClient> {
    const known = this.#clients.get(socket)
    if (known) return known
    const { CriClient } = await import('./cri-client.ts')
    const client = this.#clients.get(socket) ?? new CriClient(socket)
    this.#clients.set(socket, client)
    return client
  }
}

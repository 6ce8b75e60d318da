/** What goes wrong with nodes and engine, at random, one after the other and several at once, until it is stopped. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Cut } from '../rigs/cuts.ts'
import type { SharedNode } from '../rigs/shared-node.ts'
import type { EngineServer, EngineSide } from './engine-side.ts'
import type { SeededRandom } from './seeded-random.ts'

export interface MishapsOptions {
  readonly nodes: readonly SharedNode[]
  readonly engine: EngineSide
  readonly random: SeededRandom
  /** How many may go on at once. */
  readonly atOnce: number
}

type Kind =
  | 'daemon killed'
  | 'daemon frozen'
  | 'node cut off'
  | 'server killed'
  | 'server frozen'
  | 'server isolated'
  | 'engine killed'
  | 'engine slow'
  | 'compacted'

export class Mishaps {
  /** How often each happened. */
  readonly count = new Map<string, number>()
  readonly #options: MishapsOptions
  /** Nodes and servers that something is being done to. */
  readonly #busy = new Map<SharedNode | EngineServer, Kind>()
  #stopping = false

  constructor(options: MishapsOptions) {
    this.#options = options
  }

  /** Resolves after `stop`, when all is well again. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#options.atOnce }, () => this.#work()))
  }

  stop(): void {
    this.#stopping = true
  }

  /** "daemon killed: host-3" for each that goes on. */
  underWay(): readonly string[] {
    return [...this.#busy].map(([{ name }, kind]) => `${kind}: ${name}`)
  }

  async #work(): Promise<void> {
    const { random, engine } = this.#options
    const kinds: readonly Kind[] = [
      ...(['daemon killed', 'daemon killed', 'daemon killed', 'daemon frozen'] as const),
      ...(['node cut off', 'node cut off', 'node cut off'] as const),
      ...(['server killed', 'server frozen', 'engine slow', 'compacted'] as const),
      ...(engine.servers.length > 1
        ? (['server isolated', 'server isolated', 'engine killed'] as const)
        : (['server killed', 'server killed', 'server frozen'] as const)),
    ]
    while (!this.#stopping) {
      const kind = random.pick(kinds)
      if (await this.#happen(kind)) this.count.set(kind, (this.count.get(kind) ?? 0) + 1)
      await delay(random.between(100, 1500))
    }
  }

  /** Whether it could. */
  async #happen(kind: Kind): Promise<boolean> {
    const { random, engine, nodes } = this.#options
    switch (kind) {
      case 'daemon killed':
        return await this.#with(kind, [random.pick(nodes)], async node => {
          await node.kill(random.chance(0.8) ? 'SIGKILL' : 'SIGTERM')
          await this.#wait(0, 2000)
          await node.start()
        })
      case 'daemon frozen':
        return await this.#with(kind, [random.pick(nodes)], async node => {
          node.freeze()
          await this.#wait(500, 8000)
          node.thaw()
        })
      case 'node cut off':
        return await this.#with(kind, [random.pick(nodes)], async node => {
          await node.cut(random.pick<Cut>(['both', 'requests', 'replies', 'refused', 30]))
          await this.#wait(500, 10_000)
          // Also a daemon that starts while it is cut off.
          if (random.chance(0.2)) {
            await node.kill()
            await node.start()
          }
          await node.mend()
        })
      case 'server killed':
        return await this.#with(kind, [random.pick(engine.servers)], async server => {
          await server.kill()
          await this.#wait(200, 4000)
          await server.start()
        })
      case 'server frozen':
        return await this.#with(kind, [random.pick(engine.servers)], async server => {
          server.freeze()
          await this.#wait(500, 8000)
          server.thaw()
        })
      case 'server isolated':
        return await this.#with(kind, [random.pick(engine.servers)], async server => {
          await server.isolate?.()
          await this.#wait(500, 8000)
          await server.join?.()
        })
      case 'engine killed':
        return await this.#with(kind, engine.servers, async (...servers) => {
          for (const server of servers) await server.kill()
          await this.#wait(200, 3000)
          for (const server of servers) await server.start()
        })
      case 'engine slow':
        return await this.#with(kind, engine.servers, async (...servers) => {
          for (let times = random.between(5, 20); times > 0; times--) {
            for (const server of servers) server.freeze()
            await delay(random.between(50, 400))
            for (const server of servers) server.thaw()
            await delay(random.between(10, 50))
          }
        })
      case 'compacted':
        return await engine.compact().then(
          () => true,
          () => false,
        )
    }
  }

  async #with<One extends SharedNode | EngineServer>(
    kind: Kind,
    wanted: readonly One[],
    work: (...all: [One, ...One[]]) => Promise<void>,
  ): Promise<boolean> {
    const [first, ...others] = wanted
    if (first === undefined || wanted.some(one => this.#busy.has(one))) return false
    for (const one of wanted) this.#busy.set(one, kind)
    await work(first, ...others)
    for (const one of wanted) this.#busy.delete(one)
    return true
  }

  async #wait(low: number, high: number): Promise<void> {
    const ends = performance.now() + this.#options.random.between(low, high)
    while (performance.now() < ends && !this.#stopping) await delay(50)
  }
}

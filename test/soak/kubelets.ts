/** Kubelets at work on all machines: pods live, several at once on each, by the table of lives. */
import { setTimeout as delay } from 'node:timers/promises'
import type { SeededRandom } from '../rigs/seeded-random.ts'
import type { Life, LifeTools } from './lives.ts'
import type { Runtime } from './runtime.ts'

export interface KubeletsOptions {
  readonly runtimes: readonly Runtime[]
  readonly random: SeededRandom
  /** Pods that each machine has to do with at once. */
  readonly atOnce: number
  readonly lives: readonly Life[]
}

export class Kubelets {
  /** How often each kind of life was begun. */
  readonly count = new Map<string, number>()
  readonly #options: KubeletsOptions
  /** Names that a life has for itself. */
  readonly #alone = new Set<string>()
  #begun = 0
  #ending = false
  #over = false

  constructor(options: KubeletsOptions) {
    this.#options = options
  }

  /** Resolves after `stop`, when nothing is under way any more. */
  async run(): Promise<void> {
    const { runtimes, atOnce } = this.#options
    const workers = runtimes.flatMap(runtime => Array.from({ length: atOnce }, () => runtime))
    await Promise.all(workers.map((runtime, worker) => this.#work(runtime, worker, workers.length)))
  }

  /** No pod is begun any more. */
  stop(): void {
    this.#ending = true
  }

  /** Nothing is waited for any more. */
  leave(): void {
    this.#ending = true
    this.#over = true
  }

  async #work(runtime: Runtime, worker: number, workers: number): Promise<void> {
    const { random, lives } = this.#options
    const drawn = lives.flatMap(life => Array.from({ length: life.weight }, () => life))
    // Each kind once, dealt to all workers; then as it comes.
    const first = random.derive(0).shuffle(lives)
    for (let round = 0; !this.#ending; round++) {
      const own = random.derive(worker, round)
      const life = first[round * workers + worker] ?? own.pick(drawn)
      this.count.set(life.kind, (this.count.get(life.kind) ?? 0) + 1)
      await life.live(this.#tools(runtime, own, this.#begun++))
      await delay(own.between(0, 200))
    }
  }

  #tools(runtime: Runtime, random: SeededRandom, number: number): LifeTools {
    return {
      ...{ random, runtime, number },
      runtimes: this.#options.runtimes,
      wait: async (low, high) => {
        const ends = performance.now() + random.between(low, high)
        while (performance.now() < ends && !this.#ending) await delay(50)
      },
      isEnding: () => this.#ending,
      isOver: () => this.#over,
      alone: async (name, work) => {
        if (this.#alone.has(name)) return
        this.#alone.add(name)
        try {
          await work()
        } finally {
          this.#alone.delete(name)
        }
      },
    }
  }
}

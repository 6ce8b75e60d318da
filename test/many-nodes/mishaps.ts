/** What goes wrong with nodes and engine, at random, one after the other and several at once, until it is stopped. */
import { setTimeout as delay } from 'node:timers/promises'
import type { SeededRandom } from '../rigs/seeded-random.ts'

/** What a mishap has to hand while it happens. */
export interface MishapTools {
  /** Its own: what it draws does not depend on what others do meanwhile. */
  readonly random: SeededRandom
  /** Milliseconds; shorter when all is to end. */
  readonly wait: (low: number, high: number) => Promise<void>
  /** Does something to things that nothing is being done to; resolves to false, and does nothing, where that is not so. */
  readonly withAll: (things: readonly Named[], work: () => Promise<void>) => Promise<boolean>
  /** The same with one thing. */
  readonly withOne: <One extends Named>(thing: One, work: (thing: One) => Promise<void>) => Promise<boolean>
}

export interface Named {
  readonly name: string
}

export interface Mishap {
  readonly kind: string
  /** How often it is drawn, beside the others. Default: 1. */
  readonly weight?: number
  /** Resolves when all is well again: whether it could happen. */
  happen(tools: MishapTools): Promise<boolean>
}

export interface MishapsOptions {
  readonly rows: readonly Mishap[]
  /** These happen first, each once, in this order as far as they can. */
  readonly first?: readonly Mishap[]
  readonly random: SeededRandom
  /** How many may go on at once. */
  readonly atOnce: number
  /** What every wait is multiplied by. Default: 1. */
  readonly haste?: number
  /** Milliseconds between two. Default: 100 to 1500. */
  readonly pause?: readonly [low: number, high: number]
  /** Is told when all did not come well again. Default: `run` fails. */
  readonly failed?: (kind: string, error: unknown) => void
}

/** One that happened. Moments are of performance.now(). */
export interface Happened {
  readonly kind: string
  /** Names of what it happened to. */
  readonly to: readonly string[]
  readonly from: number
  /** Infinity: it goes on. */
  readonly until: number
}

export class Mishaps {
  /** How often each happened. */
  readonly count = new Map<string, number>()
  readonly happened: Happened[] = []
  readonly #options: MishapsOptions
  readonly #waiting: Mishap[]
  /** Those that come first and have not happened. */
  readonly #notYet: Set<Mishap>
  /** Each as often as it is to be drawn. */
  readonly #drawn: readonly Mishap[]
  /** Nodes and servers that something is being done to. */
  readonly #busy = new Map<Named, string>()
  #number = 0
  #stopping = false

  constructor(options: MishapsOptions) {
    this.#options = options
    this.#waiting = [...(options.first ?? [])]
    this.#notYet = new Set(this.#waiting)
    this.#drawn = options.rows.flatMap(row => Array.from({ length: row.weight ?? 1 }, () => row))
  }

  /** Whether each of those that come first has happened, and is over: one that goes on may yet find that it cannot happen. */
  get allHappened(): boolean {
    return this.#notYet.size === 0
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
    const { random, pause: [low, high] = [100, 1500] } = this.#options
    while (!this.#stopping) {
      const own = random.derive(++this.#number)
      const due = this.#waiting.shift()
      const row = due ?? own.pick(this.#drawn)
      const happened = await this.#happen(row, own).catch((error: unknown) => {
        const { failed } = this.#options
        if (!failed) throw error
        failed(row.kind, error)
        return true
      })
      if (happened) {
        this.count.set(row.kind, (this.count.get(row.kind) ?? 0) + 1)
        this.#notYet.delete(row)
      } else if (due) this.#waiting.push(due)
      await delay(own.between(low, high))
    }
  }

  async #happen(row: Mishap, random: SeededRandom): Promise<boolean> {
    const withAll: MishapTools['withAll'] = async (things, work) => {
      if (things.length === 0 || things.some(one => this.#busy.has(one))) return false
      for (const one of things) this.#busy.set(one, row.kind)
      const begun = { kind: row.kind, to: things.map(({ name }) => name), from: performance.now() }
      const index = this.happened.push({ ...begun, until: Infinity }) - 1
      try {
        await work()
      } finally {
        this.happened[index] = { ...begun, until: performance.now() }
        for (const one of things) this.#busy.delete(one)
      }
      return true
    }
    return await row.happen({
      random,
      wait: async (low, high) => {
        const ends = performance.now() + random.between(low, high) * (this.#options.haste ?? 1)
        while (performance.now() < ends && !this.#stopping) await delay(50)
      },
      withAll,
      withOne: (thing, work) => withAll([thing], () => work(thing)),
    })
  }
}

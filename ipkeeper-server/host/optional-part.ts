import { toProblem, type Problem } from '../../shared/problem/problem.ts'
import { BackgroundTask, type Timers } from './background-task.ts'

/** What no pod needs: the daemon serves ADD and DEL whether these work or not. */
export const optionalPartNames = [
  'metrics',
  'page',
  'webhook',
  'certificate',
  'runtime',
  'history-export',
] as const
export type OptionalPartName = (typeof optionalPartNames)[number]

export interface PartState {
  readonly name: OptionalPartName
  /** Why it does not work; undefined while it does. */
  readonly problem: Problem | undefined
  /** Since when it is so: milliseconds since the epoch. */
  readonly since: number
}

export interface OptionalPartOptions {
  readonly name: OptionalPartName
  /** Begins it, or looks whether it works; throws while it does not, and is called again later. */
  readonly begin: () => Promise<void> | void
  /** Milliseconds until one that works is looked at again; absent: whoever uses it says that it `broke`. */
  readonly lookEvery?: number
  /** By what a wait is multiplied, anew each time: what many nodes ask is not to be asked by all of them at once. Default: 1. */
  readonly spread?: () => number
}

export interface OptionalPartsOptions {
  /** Once for each change, and not for each try. */
  readonly onBroken: (name: OptionalPartName, problem: Problem) => void
  readonly onMended: (name: OptionalPartName) => void
  readonly now: () => number
  readonly timers?: Timers
}

/** Milliseconds until what does not work is tried again: twice as long after each try. */
const [shortestWait, longestWait] = [1_000, 30_000]

/** One part: tried until it works, and again when it breaks. */
export class OptionalPart {
  readonly #options: OptionalPartOptions
  readonly #parts: OptionalPartsOptions
  readonly #task: BackgroundTask
  #problem: Problem | undefined
  #since: number
  #wait = shortestWait

  constructor(options: OptionalPartOptions, parts: OptionalPartsOptions) {
    this.#options = options
    this.#parts = parts
    this.#since = parts.now()
    this.#task = new BackgroundTask({
      round: () => this.#try(),
      ...(parts.timers && { timers: parts.timers }),
    })
  }

  get state(): PartState {
    return { name: this.#options.name, problem: this.#problem, since: this.#since }
  }

  /** Resolves after the first try, however it ended. */
  async start(): Promise<void> {
    await this.#task.run()
  }

  /** Whoever uses it has found that it does not work any more. */
  broke(error: unknown): void {
    const worked = this.#problem === undefined
    this.#set(toProblem(error))
    if (worked) this.#task.wake(this.#wait * (this.#options.spread?.() ?? 1))
  }

  /** It is not tried any more. Resolves when the try under way has ended. */
  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #try(): Promise<number | undefined> {
    try {
      await this.#options.begin()
      this.#wait = shortestWait
      this.#set(undefined)
      return this.#options.lookEvery
    } catch (error) {
      this.#set(toProblem(error))
      const wait = this.#wait
      this.#wait = Math.min(wait * 2, longestWait)
      return wait * (this.#options.spread?.() ?? 1)
    }
  }

  #set(problem: Problem | undefined): void {
    const before = this.#problem
    this.#problem = problem
    if (before?.code === problem?.code && before?.message === problem?.message) return
    this.#since = this.#parts.now()
    if (problem) this.#parts.onBroken(this.#options.name, problem)
    else this.#parts.onMended(this.#options.name)
  }
}

/** All that this daemon is configured to have. */
export class OptionalParts {
  readonly #options: OptionalPartsOptions
  readonly #parts: OptionalPart[] = []

  constructor(options: OptionalPartsOptions) {
    this.#options = options
  }

  add(part: OptionalPartOptions): OptionalPart {
    const added = new OptionalPart(part, this.#options)
    this.#parts.push(added)
    return added
  }

  /** It is not configured any more. Resolves when the try under way has ended. */
  async remove(part: OptionalPart): Promise<void> {
    this.#parts.splice(this.#parts.indexOf(part), 1)
    await part.stop()
  }

  states(): readonly PartState[] {
    return this.#parts.map(({ state }) => state)
  }
}

/** When something is to happen, on a clock that nobody sets. Handed in, so that a test or a simulation drives it. */
export interface Timers {
  /** Milliseconds since some moment. */
  readonly now: () => number
  /** Calls once, after so many milliseconds; returns what cancels it. A call that waits keeps no process alive. */
  readonly after: (milliseconds: number, call: () => void) => () => void
}

export const systemTimers: Timers = {
  now: () => performance.now(),
  after: (milliseconds, call) => {
    const timer = setTimeout(call, milliseconds).unref()
    return () => {
      clearTimeout(timer)
    }
  },
}

export interface BackgroundTaskOptions {
  /**
   * One round of the work. Returns after how many milliseconds the next one is due, if nothing wakes the task earlier;
   * undefined: only when it is woken.
   */
  readonly round: () => Promise<number | undefined> | number | undefined
  /** What a round threw; undefined where a round never throws. */
  readonly onError?: (error: unknown) => void
  /** Milliseconds until the next round after one that threw. Default: only when it is woken. */
  readonly retryAfter?: number
  readonly timers?: Timers
}

/** The limit of setTimeout; a later moment is waited for in steps. */
const longestWait = 2 ** 31 - 1

/**
 * Work that goes on beside the requests: it sleeps until it is due or woken, never runs twice at once, and can be stopped at
 * any moment. Nothing happens before the first `wake`.
 */
export class BackgroundTask {
  readonly #options: BackgroundTaskOptions
  readonly #timers: Timers
  /** By the timers' clock; Infinity while nothing is planned. */
  #dueAt = Infinity
  /** By the same clock. */
  #restsUntil = -Infinity
  #cancel: () => void = () => undefined
  /** The round under way, and all that were asked for by `run` after it. */
  #running: Promise<void> | undefined
  #stopped = false

  constructor(options: BackgroundTaskOptions) {
    this.#options = options
    this.#timers = options.timers ?? systemTimers
  }

  get isStopped(): boolean {
    return this.#stopped
  }

  /** Has a round begin after so many milliseconds at the latest; during a round, after it. The earliest wish counts. */
  wake(milliseconds = 0): void {
    const at = this.#timers.now() + Math.max(milliseconds, 0)
    if (this.#stopped || at >= this.#dueAt) return
    this.#dueAt = at
    if (!this.#running) this.#sleep()
  }

  /** No round that is woken begins within so many milliseconds, however often it is woken meanwhile. */
  rest(milliseconds: number): void {
    this.#restsUntil = this.#timers.now() + milliseconds
  }

  /** One round now, or right after the one that is under way. Resolves when it has ended; rejects only without `onError`. */
  async run(): Promise<void> {
    const before = this.#running ?? Promise.resolve()
    const mine = before.then(() => this.#round())
    this.#running = mine
    await mine
    if (this.#running !== mine) return
    this.#running = undefined
    if (this.#dueAt < Infinity) this.#sleep()
  }

  /** Resolves when no round is under way. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** No further round begins. Resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#dueAt = Infinity
    this.#cancel()
    await this.#running
  }

  #sleep(): void {
    this.#cancel()
    const left = Math.max(Math.max(this.#dueAt, this.#restsUntil) - this.#timers.now(), 0)
    this.#cancel = this.#timers.after(Math.min(left, longestWait), () => {
      if (left > longestWait) this.#sleep()
      else void this.run()
    })
  }

  async #round(): Promise<void> {
    if (this.#stopped) return
    this.#cancel()
    this.#dueAt = Infinity
    const { round, onError, retryAfter } = this.#options
    try {
      this.#plan(await round())
    } catch (error) {
      if (!onError) throw error
      onError(error)
      this.#plan(retryAfter)
    }
  }

  #plan(milliseconds: number | undefined): void {
    if (milliseconds !== undefined) this.wake(milliseconds)
  }
}

import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers'
import timersPromises from 'node:timers/promises'

/** A callback that waits for its moment. */
interface Waiting {
  readonly at: number
  readonly call: () => void
  cancelled: boolean
}

/** Where the wall clock begins. */
const epoch = Date.parse('2026-01-01T00:00:00Z')

/** Calls after which a history that never ends is given up. */
const mostCalls = 500_000

/** The work does not end, or not soon enough. */
export class NoEnd extends Error {}

/**
 * Time that passes only when nothing is left to be done at a moment: whoever waits for an hour gets it at once. While it is
 * in force, timers of the whole process are its own, and `performance.now` and `Date.now` go by it. Callbacks of one moment
 * come in the order in which they were asked for, so that what happens depends on nothing but the program.
 */
export class VirtualTime {
  #now = 0
  /** The soonest last; those of one moment in reverse order. */
  readonly #waiting: Waiting[] = []
  #calls = 0

  /** Milliseconds since this time began. */
  readonly now = (): number => this.#now
  /** Milliseconds since the epoch. */
  readonly wall = (): number => epoch + this.#now

  /** Runs the work, and everything that it waits for; what is left waiting then never happens. */
  static async run<T>(work: (time: VirtualTime) => Promise<T>): Promise<T> {
    const time = new VirtualTime()
    const putBack = time.#install()
    try {
      return await time.#untilSettled(work(time))
    } finally {
      putBack()
    }
  }

  /** Resolves after so many milliseconds. */
  readonly pass = (milliseconds: number): Promise<void> =>
    new Promise(resolve => {
      this.#after(milliseconds, resolve)
    })

  async #untilSettled<T>(work: Promise<T>): Promise<T> {
    const state = { isSettled: false }
    const settled = (): void => {
      state.isSettled = true
    }
    work.then(settled, settled)
    for (;;) {
      await allDone()
      if (state.isSettled) return await work
      const next = this.#waiting.pop()
      if (next === undefined) throw new NoEnd('the work waits for something that is no timer')
      if (++this.#calls > mostCalls) throw new NoEnd(`no end after ${mostCalls} timers`)
      if (next.cancelled) continue
      this.#now = next.at
      next.call()
    }
  }

  #after(milliseconds: number, call: () => void): Waiting {
    const at = this.#now + Math.max(milliseconds, 0)
    const waiting = { at, call, cancelled: false }
    let [from, to] = [0, this.#waiting.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#waiting[middle]?.at ?? 0) > at) from = middle + 1
      else to = middle
    }
    this.#waiting.splice(from, 0, waiting)
    return waiting
  }

  #timer(milliseconds: number, call: () => void): NodeJS.Timeout {
    const waiting = this.#after(milliseconds, call)
    const timer = {
      ref: () => timer,
      unref: () => timer,
      hasRef: () => true,
      waiting,
    }
    return timer as unknown as NodeJS.Timeout
  }

  /** Returns what puts everything back. */
  #install(): () => void {
    const setTimeout = (call: (...values: unknown[]) => void, milliseconds = 0, ...values: unknown[]) =>
      this.#timer(milliseconds, () => {
        call(...values)
      })
    const setImmediate = (call: (...values: unknown[]) => void, ...values: unknown[]) =>
      setTimeout(call, 0, ...values)
    const clear = (timer: { readonly waiting?: Waiting } | undefined): void => {
      if (timer?.waiting) timer.waiting.cancelled = true
    }
    const delay = <T>(milliseconds = 0, value?: T, { signal }: { signal?: AbortSignal } = {}): Promise<T> =>
      new Promise((resolve, reject) => {
        const fail = (): void => {
          clear(timer as never)
          reject(new DOMException('The operation was aborted', 'AbortError'))
        }
        const timer = this.#timer(milliseconds, () => {
          signal?.removeEventListener('abort', fail)
          resolve(value as T)
        })
        if (signal?.aborted === true) fail()
        else signal?.addEventListener('abort', fail, { once: true })
      })
    const ways = {
      setTimeout,
      setImmediate,
      clearTimeout: clear,
      clearImmediate: clear,
    }
    const promised = { setTimeout: delay, setImmediate: <T>(value?: T) => delay(0, value) }
    const undo = [
      replace(globalThis, ways),
      replace(timers, ways),
      replace(timersPromises, promised),
      replace(performance, { now: this.now }),
      replace(Date, { now: this.wall }),
    ]
    // For those who have imported them by name.
    syncBuiltinESMExports()
    return () => {
      for (const putBack of undo) putBack()
      syncBuiltinESMExports()
    }
  }
}

/** Replaces properties of an object; returns what puts the former ones back. */
function replace(object: object, by: Readonly<Record<string, unknown>>): () => void {
  const before = Object.keys(by).map(name => [name, Object.getOwnPropertyDescriptor(object, name)] as const)
  for (const [name, value] of Object.entries(by))
    Object.defineProperty(object, name, { value, configurable: true, writable: true })
  return () => {
    for (const [name, descriptor] of before) {
      if (descriptor) Object.defineProperty(object, name, descriptor)
      else Reflect.deleteProperty(object, name)
    }
  }
}

/**
 * All that promises alone can do is done: the next tick comes when no microtask is left. It is asked for in a microtask, since one
 * that is asked for in a tick comes before all microtasks.
 */
const allDone = (): Promise<void> =>
  new Promise(resolve => {
    queueMicrotask(() => {
      process.nextTick(resolve)
    })
  })

import type { Timers } from '../../ipkeeper-server/host/background-task.ts'

/** Timers that a test moves on. */
export class TestTimers implements Timers {
  #now = 0
  readonly #waiting = new Map<() => void, number>()
  readonly now = (): number => this.#now
  readonly after = (milliseconds: number, call: () => void): (() => void) => {
    this.#waiting.set(call, this.#now + milliseconds)
    return () => {
      this.#waiting.delete(call)
    }
  }

  get waiting(): number {
    return this.#waiting.size
  }

  async pass(milliseconds: number): Promise<void> {
    const until = this.#now + milliseconds
    for (;;) {
      const [next] = [...this.#waiting].sort(([, a], [, b]) => a - b)
      if (!next || next[1] > until) break
      this.#waiting.delete(next[0])
      this.#now = next[1]
      next[0]()
      await settled()
    }
    this.#now = until
  }
}

/** All that promises alone can do is done. */
export const settled = (): Promise<void> =>
  new Promise(resolve => {
    setImmediate(resolve)
  })

import { holderKey, type Holder } from '../../ipam/records/records.ts'

/** Runs tasks of one key one after another, in the order they came; tasks of different keys run side by side. */
export class Serial {
  readonly #tails = new Map<string, Promise<unknown>>()

  /** How many keys have work under way. */
  get busy(): number {
    return this.#tails.size
  }

  /** Whether there is work of a key under way. */
  isBusy(key: string): boolean {
    return this.#tails.has(key)
  }

  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const turn = before ? before.then(task, task) : task()
    this.#tails.set(key, turn)
    try {
      return await turn
    } finally {
      if (this.#tails.get(key) === turn) this.#tails.delete(key)
    }
  }

  /** Resolves when everything that was handed in so far has ended. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) await Promise.allSettled([...this.#tails.values()])
  }
}

/**
 * Runs what changes the wiring of a holder, one after the other: two sandboxes of one pod have the same addresses, the
 * second from the first, and must not meet in the kernel. To be called in the turn of the attachment, never around it, which
 * could deadlock.
 */
export async function inTurnOfHolder<T>(
  { serial }: { readonly serial: Serial },
  holder: Holder,
  task: () => Promise<T>,
): Promise<T> {
  return await serial.run(`holder ${holderKey(holder)}`, task)
}

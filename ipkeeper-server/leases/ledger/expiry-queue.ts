interface Expiry {
  readonly key: string
  readonly until: number
}

/** A binary heap of moments: what ends next is on top. Entries are not removed when they are outdated; the reader checks. */
export class ExpiryQueue {
  readonly #heap: Expiry[] = []

  add(key: string, until: number): void {
    const heap = this.#heap
    const entry = { key, until }
    let index = heap.push(entry) - 1
    while (index > 0) {
      const parent = (index - 1) >>> 1
      const above = heap[parent]
      if (!above || above.until <= until) break
      heap[index] = above
      index = parent
    }
    heap[index] = entry
  }

  /** Removes all entries and returns their keys. */
  clear(): string[] {
    return this.#heap.splice(0).map(({ key }) => key)
  }

  /** The earliest moment, milliseconds since the epoch. */
  next(): number | undefined {
    return this.#heap[0]?.until
  }

  /** Removes and returns all entries up to and including the moment, earliest first. */
  takeUntil(now: number): Expiry[] {
    const taken: Expiry[] = []
    for (let top = this.#heap[0]; top && top.until <= now; top = this.#heap[0]) {
      taken.push(top)
      this.#removeTop()
    }
    return taken
  }

  /** All entries up to and including the moment, in no order; they stay. */
  *upTo(now: number): Generator<Expiry, undefined> {
    // Nothing below a later moment is earlier.
    const open = [0]
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      const entry = this.#heap[index]
      if (!entry || entry.until > now) continue
      yield entry
      open.push(2 * index + 1, 2 * index + 2)
    }
  }

  #removeTop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const right = left + 1
      const smaller = (heap[right]?.until ?? Infinity) < (heap[left]?.until ?? Infinity) ? right : left
      const child = heap[smaller]
      if (!child || child.until >= last.until) break
      heap[index] = child
      index = smaller
    }
    heap[index] = last
  }
}

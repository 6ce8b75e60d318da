/** Events in the order of their moments; those of one moment in the order in which they came. */
export class EventQueue<T> {
  readonly #heap: { readonly at: number; readonly order: number; readonly event: T }[] = []
  #order = 0

  add(at: number, event: T): void {
    const heap = this.#heap
    let index = heap.push({ at, order: this.#order++, event }) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#before(index, parent)) break
      this.#swap(index, parent)
      index = parent
    }
  }

  next(): { readonly at: number; readonly event: T } | undefined {
    const heap = this.#heap
    const [first] = heap
    const last = heap.pop()
    if (!first || !last || heap.length === 0) return first
    heap[0] = last
    for (let index = 0; ;) {
      const left = 2 * index + 1
      const child = left + 1 < heap.length && this.#before(left + 1, left) ? left + 1 : left
      if (child >= heap.length || !this.#before(child, index)) return first
      this.#swap(index, child)
      index = child
    }
  }

  #before(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]]
    if (!one || !other) return false
    return one.at === other.at ? one.order < other.order : one.at < other.at
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]]
    if (!one || !other) return
    this.#heap[a] = other
    this.#heap[b] = one
  }
}

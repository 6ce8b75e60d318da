/** What a collection of objects is told to whoever keeps records of them. */
export interface ObjectSink<Entry> {
  put(name: string, entry: Entry): void
  /** `revision`: since when it is known to be gone. */
  remove(name: string, revision: number): void
  /** A list contradicts what was told before: the collection has gone back. Nothing of the list is told. */
  broke(reason: string): void
  /** All there is has been told once. */
  synced(): void
}

/**
 * News of a collection in the order of versions, from two sources: the watch, and the answers to what is asked and written
 * meanwhile, which are newer than what the watch still has to tell. Of each object nothing is told that is older than what
 * was told before.
 */
export class ObjectNews<Entry extends { readonly revision: number }> {
  readonly #sink: ObjectSink<Entry>
  /** Stamps of what is there. */
  readonly #present = new Map<string, number>()
  /** What an answer told to be gone, and since when, until the watch has got there. */
  readonly #gone = new Map<string, number>()
  #synced = false
  #newest = 0

  constructor(sink: ObjectSink<Entry>) {
    this.#sink = sink
  }

  /** The newest version that was heard of. */
  get newest(): number {
    return this.#newest
  }

  /** Forgets everything: what comes next is out of other data. */
  reset(): void {
    this.#present.clear()
    this.#gone.clear()
    this.#synced = false
    this.#newest = 0
  }

  // ---- From the watch

  replace(entries: ReadonlyMap<string, Entry>, resourceVersion: string): void {
    const revision = Number(resourceVersion)
    const older = this.#olderIn(entries, revision)
    if (older !== undefined) {
      this.#sink.broke(older)
      return
    }
    this.listed(entries, revision)
    this.#passed(revision)
    if (this.#synced) return
    this.#synced = true
    this.#sink.synced()
  }

  put(name: string, entry: Entry): void {
    this.told(name, entry)
    this.#passed(entry.revision)
  }

  /** @param last bears the revision of the deletion */
  remove(name: string, { revision }: Entry): void {
    const present = this.#present.get(name)
    if (present !== undefined && present < revision) this.#remove(name, revision)
    this.#passed(revision)
  }

  /** The watch has come so far, and nothing has happened. */
  passed(resourceVersion: string): void {
    this.#passed(Number(resourceVersion))
  }

  // ---- From answers

  /** @param revision at which this was all there is */
  listed(entries: ReadonlyMap<string, Entry>, revision: number): void {
    for (const [name, entry] of entries) this.told(name, entry)
    for (const [name, since] of [...this.#present])
      if (!entries.has(name) && since <= revision) this.toldGone(name, revision)
    this.#heard(revision)
  }

  told(name: string, entry: Entry): void {
    if (entry.revision <= (this.#present.get(name) ?? this.#gone.get(name) ?? -1)) return
    this.#heard(entry.revision)
    this.#present.set(name, entry.revision)
    this.#gone.delete(name)
    this.#sink.put(name, entry)
  }

  /** @param revision of its last version, or any later one at which it was not there */
  toldGone(name: string, revision: number): void {
    if ((this.#present.get(name) ?? -1) > revision) return
    this.#heard(revision)
    this.#gone.set(name, revision)
    this.#remove(name, revision)
  }

  /** What a list has in a version that was passed long before the list was made. */
  #olderIn(entries: ReadonlyMap<string, Entry>, listed: number): string | undefined {
    for (const [name, { revision }] of entries) {
      const since = this.#present.get(name) ?? this.#gone.get(name)
      if (since !== undefined && revision < since && since <= listed)
        return `it has ${name} in version ${revision}, which was of version ${since} before: its etcd was restored from a backup`
    }
    return undefined
  }

  #heard(revision: number): void {
    if (revision > this.#newest) this.#newest = revision
  }

  #remove(name: string, revision: number): void {
    if (this.#present.delete(name)) this.#sink.remove(name, revision)
  }

  /** The watch tells in the order of versions: nothing that old will come any more. */
  #passed(revision: number): void {
    this.#heard(revision)
    for (const [name, since] of this.#gone) {
      // In the order in which they were told, which is nearly that of their revisions.
      if (since >= revision) return
      this.#gone.delete(name)
    }
  }
}

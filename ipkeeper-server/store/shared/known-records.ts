import type { Engine, SharedRecordName, SharedKind, EngineRecord } from './engine.ts'
import { recordId } from '../../ipam/records/records.ts'

/** A record without its name, which is where it is found: of the records of a large cluster each byte counts. */
export type Version = Pick<EngineRecord, 'text' | 'revision'>

export interface KnownRecordsOptions {
  readonly engine: Pick<Engine, 'read'>
  /** Whether somebody here is changing the record: news of it wait until he has done. */
  readonly isChanging: (id: string) => boolean
  /** The engine answered. */
  readonly onContact: () => void
  /** The record is not what it was; `text` null: it is gone. `before`: what was known of it. */
  readonly onChange: (name: SharedRecordName, text: string | null, before: string | undefined) => void
}

/**
 * What is known of the engine's records: from its feed, from reading it, and from what was written here.
 *
 * Invariant: of each record a version takes the place of an older one only, whichever way it was learnt, so that all who
 * hear of the changes see the engine's order.
 */
export class KnownRecords {
  readonly #options: KnownRecordsOptions
  readonly #records = new Map<SharedKind, Map<string, Version>>()
  readonly #reading = new Map<string, Promise<unknown>>()
  /** The newest news of records that were being changed or read. */
  readonly #stash = new Map<string, EngineRecord | SharedRecordName>()
  /** Who waits for one of those to be passed on. */
  readonly #waiting = new Map<string, PromiseWithResolvers<undefined>>()
  /** How often the engine has lost records. */
  #losses = 0

  constructor(options: KnownRecordsOptions) {
    this.#options = options
  }

  get({ kind, key }: SharedRecordName): Version | undefined {
    return this.#records.get(kind)?.get(key)
  }

  /** By a record's ID. */
  hasId(id: string): boolean {
    const end = id.indexOf(' ')
    return this.#records.get(id.slice(0, end) as SharedKind)?.has(id.slice(end + 1)) ?? false
  }

  *values(): Iterable<EngineRecord> {
    for (const [kind, versions] of this.#records)
      for (const [key, { text, revision }] of versions) yield { kind, key, text, revision }
  }

  *of(kind: SharedKind): Iterable<EngineRecord> {
    for (const [key, { text, revision }] of this.#records.get(kind) ?? []) yield { kind, key, text, revision }
  }

  /** What the caller has written, or knows by other means; nobody is told. `revision` null: it was deleted. */
  set({ kind, key }: SharedRecordName, text: string | null, revision: number | null): void {
    if (text === null || revision === null) this.#delete({ kind, key })
    else this.#versionsOf(kind).set(key, { text, revision })
  }

  #versionsOf(kind: SharedKind): Map<string, Version> {
    let versions = this.#records.get(kind)
    if (!versions) this.#records.set(kind, (versions = new Map<string, Version>()))
    return versions
  }

  /** Whether it was there. */
  #delete({ kind, key }: SharedRecordName): boolean {
    return this.#records.get(kind)?.delete(key) ?? false
  }

  /**
   * Asks the engine. Of two answers the later one might be the older, and so might news: who asks for a record that is
   * being read waits, and so do news.
   */
  async ask(name: SharedRecordName): Promise<EngineRecord | undefined> {
    const id = recordId(name)
    const earlier = this.#reading.get(id)
    const reading = (async () => {
      await earlier?.catch(() => undefined)
      for (;;) {
        const losses = this.#losses
        const present = await this.#options.engine.read(name.kind, name.key)
        // Else it is out of data that the engine has lost meanwhile.
        if (losses === this.#losses) return present
      }
    })()
    this.#reading.set(id, reading)
    try {
      const present = await reading
      this.#options.onContact()
      const before = this.get(name)
      const changed = before?.revision !== present?.revision
      this.set(name, present?.text ?? null, present?.revision ?? null)
      // Who asked may have lost interest; what is known here and what others were told must not part.
      if (changed) this.#options.onChange(name, present?.text ?? null, before?.text)
      return present
    } finally {
      if (this.#reading.get(id) === reading) this.#reading.delete(id)
      this.unstash(id)
    }
  }

  /** All there is now. `isAnew`: in an engine that has lost records, and may count from anywhere. */
  replace(records: readonly EngineRecord[], isAnew: boolean): void {
    if (isAnew) {
      this.#losses++
      for (const versions of this.#records.values())
        for (const [key, { text }] of versions) versions.set(key, { text, revision: -1 })
    }
    const seen = new Set<string>()
    for (const record of records) {
      seen.add(recordId(record))
      this.hear(record)
    }
    // Also what was to be heard later.
    const gone = [...this.values(), ...this.#stash.values()].filter(record => !seen.has(recordId(record)))
    for (const { kind, key } of gone) this.hear({ kind, key })
  }

  /** News of one record; without a revision: it is gone. */
  hear(news: EngineRecord | SharedRecordName): void {
    const id = recordId(news)
    // What is stashed is older: it may not come after this.
    if (this.#isBusy(id) || this.#stash.has(id)) this.#stash.set(id, news)
    else this.#take(news)
  }

  /** Passes on what was heard meanwhile, after whoever waited for this record has gone on. */
  unstash(id: string): void {
    if (!this.#stash.has(id)) return
    setImmediate(() => {
      const news = this.#stash.get(id)
      if (!news || this.#isBusy(id)) return
      this.#stash.delete(id)
      this.#take(news)
      this.#waiting.get(id)?.resolve(undefined)
      this.#waiting.delete(id)
    })
  }

  /** Whether news of a kind are held back. */
  holdsBack(kind: SharedKind): boolean {
    return [...this.#stash.values()].some(news => news.kind === kind)
  }

  /** Resolves when the news of a kind that are held back now have been passed on. */
  async passedOn(kind: SharedKind): Promise<void> {
    const held = [...this.#stash].filter(([, news]) => news.kind === kind)
    await Promise.all(
      held.map(async ([id]) => {
        const waiting = this.#waiting.get(id) ?? Promise.withResolvers<undefined>()
        this.#waiting.set(id, waiting)
        await waiting.promise
      }),
    )
  }

  #isBusy(id: string): boolean {
    return this.#reading.has(id) || this.#options.isChanging(id)
  }

  #take(news: EngineRecord | SharedRecordName): void {
    const known = this.get(news)
    if (!('revision' in news)) {
      if (this.#delete(news)) this.#options.onChange(news, null, known?.text)
      return
    }
    if (known && known.revision >= news.revision) return
    this.set(news, news.text, news.revision)
    this.#options.onChange(news, news.text, known?.text)
  }
}

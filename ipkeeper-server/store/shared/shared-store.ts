import { setTimeout as pause } from 'node:timers/promises'
import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import type { HistoryEntry, HistoryEvent } from '../../ipam/history-entry.ts'
import type { Change, HolderRecord, LeaseRecord, RecordKind, RecordTypes, Write } from '../../ipam/records.ts'
import {
  StoreConflict,
  type HistoryQuery,
  type HistoryRule,
  type LeaseStore,
  type SharedAspect,
  type StoredRecord,
  type StoreNews,
  type StoreStatus,
} from '../lease-store.ts'
import { EngineAway, type Engine, type SharedKind, type StampedRecord } from './engine.ts'
import type { Journal, Note } from './journal.ts'
import { mayChangeAlone, owedAfter, settlement, type OwedRecord } from './owed-record.ts'

export interface SharedStoreOptions {
  readonly engine: Engine
  readonly journal: Journal
  /** This one. */
  readonly node: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
  /** Milliseconds that a start waits for the engine, before it goes on with what the journal has. */
  readonly patience?: number
  /** Milliseconds between two tries of an engine that is away. */
  readonly retryAfter?: number
  /** The engine went away, came back, or can be written to but not be heard. */
  readonly onStatus: (status: StoreStatus) => void
  /** While the engine was away, somebody else took what was bound here. */
  readonly onLost: (record: RecordName) => void
}

interface RecordName {
  readonly kind: SharedKind
  readonly key: string
}

type SharedWrite = Extract<Write, { kind: SharedKind }>

/** A commit on its way. */
interface Pending {
  readonly ended: Promise<unknown>
  /** By record: the generation that it is to have then; null where it is to go. */
  readonly generations: ReadonlyMap<string, number | null>
  /** By record, once it is done: the stamps of what it wrote. undefined: it failed, or is under way. */
  stamps?: ReadonlyMap<string, number | null>
}

/** What a write is based on; resolves to the stamp to compare, undefined when that record is not there any more. */
type Basis = () => number | null | undefined

interface Owed extends OwedRecord {
  /** After it was settled: the stamp that it has in the engine; undefined when somebody else's change stands. */
  stamp?: number | null
}

const generationOf = (text: string): number => {
  // In a text of somebody's a quotation mark would have a backslash before it.
  const [, digits] = /"generation":(\d+)/.exec(text) ?? []
  if (digits === undefined) throw new Problem('IPK_INTERNAL', 'a record without a generation')
  return Number(digits)
}

const idOf = ({ kind, key }: { readonly kind: RecordKind; readonly key: string }): string => `${kind} ${key}`

const textOf = (record: object | null): string | null => (record === null ? null : JSON.stringify(record))

function isShared(write: Write): write is SharedWrite {
  return write.kind !== 'attachment'
}

/**
 * The ledger of many nodes: an engine that they share, and a journal of this node's own.
 *
 * Leases, holders, reservations, pools and guards of quotas are in the engine, and written there by compare-and-swap on
 * the very version that a change was computed from. Attachments and the history are in the journal, since they are of use
 * to this node alone.
 *
 * Invariants:
 * - An ADD is in the journal as an intent before the engine hears of it, and as an attachment only after the engine has
 *   taken it. Whatever ends in between, the intent says what is to be taken back: an ADD that nobody was answered.
 * - While the engine is away only that changes which no other node can have (mayChangeAlone). The journal has it first;
 *   when the engine is back, it is told, unless somebody else's later change stands there.
 * - The ledger hears of each record in the order of its versions, and never of one that a commit is under way for.
 */
export class SharedStore implements LeaseStore {
  readonly kind: string
  readonly location: string
  readonly shared: SharedAspect
  readonly #options: SharedStoreOptions
  readonly #engine: Engine
  readonly #journal: Journal
  /** As the engine has them, as far as is known. */
  readonly #known = new Map<string, StampedRecord>()
  readonly #owed = new Map<string, Owed>()
  /** Records whose copy is in the journal. */
  readonly #copies = new Set<string>()
  /** The last commit under way of each record. */
  readonly #tails = new Map<string, Pending>()
  /** Records that are being read. */
  readonly #reading = new Map<string, Promise<unknown>>()
  /** The owed record that is being settled. */
  #settling: string | undefined
  /** What was heard of records meanwhile. */
  readonly #stash = new Map<string, StampedRecord | RecordName>()
  readonly #stopping = new AbortController()
  /** Commits that have passed the gate. */
  readonly #passed = new Set<Promise<unknown>>()
  #adopt: ((news: StoreNews) => void) | undefined
  #begun: Promise<void> | undefined
  /** Whether the ledger has been told of all there is, so that news makes sense to it. */
  #loaded = false
  #away: { readonly reason: string; readonly since: number } | undefined
  #trouble: { readonly reason: string; readonly since: number } | undefined
  #recovering: Promise<void> | undefined
  /** Commits wait for it while owed records are settled. */
  #gate: Promise<void> | undefined
  #heardAt = -Infinity
  #firstList: (() => void) | undefined

  constructor(options: SharedStoreOptions) {
    this.#options = options
    this.#engine = options.engine
    this.#journal = options.journal
    this.kind = options.engine.kind
    this.location = options.engine.location
    this.shared = {
      follow: adopt => {
        this.#adopt = adopt
      },
      status: () => this.#status(),
      silence: () => options.monotonic() - this.#heardAt,
    }
  }

  // ---- Reading

  async load(visit: (stored: StoredRecord) => void): Promise<void> {
    this.#assertOpen()
    this.#begun ??= this.#begin()
    await this.#begun
    await this.#journal.load(visit)
    for (const { kind, key, text } of this.#known.values()) {
      if (!this.#owed.has(idOf({ kind, key }))) visit({ kind, key, text })
    }
    for (const { kind, key, want } of this.#owed.values()) if (want !== null) visit({ kind, key, text: want })
    this.#loaded = true
  }

  /** Hears the engine out, or gives up waiting for it. */
  async #begin(): Promise<void> {
    const copies = this.#readNotes()
    const listed = new Promise<void>(resolve => (this.#firstList = resolve))
    this.#engine.start({
      replace: records => {
        this.#replace(records)
      },
      put: record => {
        this.#hear(record)
      },
      remove: (kind, key) => {
        this.#hear({ kind, key })
      },
      trouble: reason => {
        this.#tellTrouble(reason)
      },
    })
    const { patience = 10_000 } = this.#options
    const late = pause(patience, 'late', { signal: this.#stopping.signal, ref: false }).catch(() => 'late')
    if ((await Promise.race([listed, late])) === 'late') {
      // What the ledger is told now is compared with what the engine has as soon as it is heard.
      for (const record of copies) this.#known.set(idOf(record), record)
      this.#goAway(this.#trouble?.reason ?? `no answer within ${patience} ms`)
    }
    if (this.#owed.size > 0) this.#recover()
    if (!this.#away) await this.#journal.commit([], [], this.#staleCopies(copies))
  }

  async read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined> {
    this.#assertOpen()
    if (kind === 'attachment') return await this.#journal.read(kind, key)
    const text = await this.#readShared(kind, key)
    return text === null ? undefined : (JSON.parse(text) as RecordTypes[K])
  }

  async #readShared(kind: SharedKind, key: string): Promise<string | null> {
    const id = idOf({ kind, key })
    const owed = this.#owed.get(id)
    if (owed) return owed.want
    if (!this.#away) {
      try {
        return (await this.#ask({ kind, key }))?.text ?? null
      } catch (error) {
        this.#failedWith(error)
      }
    }
    return this.#owed.get(id)?.want ?? this.#known.get(id)?.text ?? null
  }

  /**
   * What the engine has. News of the record wait meanwhile, since they may be older or younger; and so does whoever else
   * asks, since of two answers the later one might be the older.
   */
  async #ask(record: RecordName): Promise<StampedRecord | undefined> {
    const id = idOf(record)
    const earlier = this.#reading.get(id)
    const reading = (async () => {
      await earlier?.catch(() => undefined)
      return await this.#engine.read(record.kind, record.key)
    })()
    this.#reading.set(id, reading)
    try {
      const present = await reading
      this.#contact()
      const changed = this.#known.get(id)?.stamp !== present?.stamp
      if (present) this.#known.set(id, present)
      else this.#known.delete(id)
      // Who asked may have lost interest; the ledger and what is known here must not part.
      if (changed) this.#tell(record, present?.text ?? null)
      return present
    } finally {
      if (this.#reading.get(id) === reading) this.#reading.delete(id)
      this.#unstash(id)
    }
  }

  // ---- Committing

  async commit(change: Change, events: readonly HistoryEvent[] = []): Promise<void> {
    this.#assertOpen()
    const writes = change.filter(isShared).filter(({ kind }) => !this.#engine.ignores.includes(kind))
    const local = change.filter(write => !isShared(write))
    if (writes.length === 0) {
      await this.#journal.commit(local, events)
      return
    }
    const bases = writes.map(write => this.#basisOf(write))
    const stale = writes.find((_, index) => bases[index] === undefined)
    if (stale) throw new StoreConflict(stale.kind, stale.key)
    const ids = writes.map(idOf)
    const before = new Set(ids.flatMap(id => this.#tails.get(id) ?? []))
    const ended = Promise.withResolvers<undefined>()
    const generations = new Map(writes.map(write => [idOf(write), write.record?.generation ?? null]))
    const pending: Pending = { ended: ended.promise, generations }
    for (const id of ids) this.#tails.set(id, pending)
    try {
      await Promise.all(Array.from(before, ({ ended: other }) => other))
      while (this.#gate) await this.#gate
      this.#assertOpen()
      const stamps = bases.map(basis => basis?.())
      const gone = writes.find((_, index) => stamps[index] === undefined)
      if (gone) throw new StoreConflict(gone.kind, gone.key)
      const based = writes.map((write, index) => ({ ...write, base: stamps[index] ?? null }))
      pending.stamps = await this.#counted(this.#carryOut(based, local, events))
    } finally {
      for (const id of ids) {
        if (this.#tails.get(id) === pending) this.#tails.delete(id)
        this.#unstash(id)
      }
      ended.resolve(undefined)
    }
  }

  /** Whoever shuts the gate waits for what has passed it. */
  async #counted<T>(work: Promise<T>): Promise<T> {
    this.#passed.add(work)
    try {
      return await work
    } finally {
      this.#passed.delete(work)
    }
  }

  /** undefined when the record is not of the generation that is expected. */
  #basisOf({ kind, key, expect }: SharedWrite): Basis | undefined {
    const id = idOf({ kind, key })
    const earlier = this.#tails.get(id)
    if (earlier) {
      const buildsOnIt = earlier.generations.get(id) === expect
      return () => {
        if (buildsOnIt) return earlier.stamps?.get(id)
        return earlier.stamps ? undefined : this.#presentBasis(id, expect)?.()
      }
    }
    return this.#presentBasis(id, expect)
  }

  #presentBasis(id: string, expect: number | null): Basis | undefined {
    const owed = this.#owed.get(id)
    const text = owed ? owed.want : (this.#known.get(id)?.text ?? null)
    if ((text === null ? null : generationOf(text)) !== expect) return undefined
    // When the engine has come back meanwhile, it has what was owed to it or something else by now.
    if (owed) return () => (this.#owed.get(id) === owed ? null : owed.stamp)
    const stamp = this.#known.get(id)?.stamp ?? null
    return () => stamp
  }

  async #carryOut(
    writes: readonly (SharedWrite & { readonly base: number | null })[],
    local: Change,
    events: readonly HistoryEvent[],
  ): Promise<ReadonlyMap<string, number | null>> {
    if (this.#away) return await this.#carryOutAlone(writes, local, events)
    const isAdd = local.some(({ record }) => record !== null)
    const intents = writes.map(write => this.#takenBack(write))
    if (isAdd) await this.#journal.commit([], [], intents.map(noteOf))
    let stamps: readonly (number | null)[]
    try {
      stamps = await this.#engine.commit(
        writes.map(({ kind, key, base, record }) => ({ kind, key, base, text: textOf(record) })),
      )
    } catch (error) {
      if (error instanceof EngineAway) {
        this.#goAway(error.message)
        if (this.#allMayChangeAlone(writes)) return await this.#carryOutAlone(writes, local, events, true)
        this.#owe(intents)
        if (!isAdd) await this.#journal.commit([], [], intents.map(noteOf))
        throw this.#refusal(error)
      }
      // Before any later note of these records.
      if (isAdd) void this.#journal.commit([], [], intents.map(forgotten)).catch(() => undefined)
      throw error
    }
    this.#contact()
    const written = new Map<string, number | null>()
    for (const [index, { kind, key, record }] of writes.entries()) {
      const stamp = stamps[index] ?? null
      const id = idOf({ kind, key })
      written.set(id, stamp)
      const text = textOf(record)
      if (text === null || stamp === null) this.#known.delete(id)
      else this.#known.set(id, { kind, key, text, stamp })
    }
    const notes = [...(isAdd ? intents.map(forgotten) : []), ...writes.flatMap(write => this.#copy(write))]
    try {
      await this.#journal.commit(local, events, notes)
    } catch (error) {
      // Nobody is to be answered from it: what the engine has is to be taken back.
      this.#owe(intents)
      this.#recover()
      throw error
    }
    return written
  }

  /** What is owed to the engine when a write turns out to have been for nothing. */
  #takenBack({ kind, key, record }: SharedWrite): OwedRecord {
    const before = this.#known.get(idOf({ kind, key }))?.text ?? null
    return { kind, key, expected: [before, textOf(record)], want: before }
  }

  #expectedOf({ kind, key, record }: SharedWrite, tried: boolean): OwedRecord['expected'] {
    const id = idOf({ kind, key })
    const owed = this.#owed.get(id)
    if (owed) return owed.expected
    const before = this.#known.get(id)?.text ?? null
    return tried ? [before, textOf(record)] : [before]
  }

  #allMayChangeAlone(writes: readonly SharedWrite[]): boolean {
    return writes.every(write =>
      mayChangeAlone(write.kind, this.#expectedOf(write, false), write.record, this.#options.node),
    )
  }

  /** `tried`: the engine may have it already. */
  async #carryOutAlone(
    writes: readonly SharedWrite[],
    local: Change,
    events: readonly HistoryEvent[],
    tried = false,
  ): Promise<ReadonlyMap<string, number | null>> {
    if (!this.#allMayChangeAlone(writes)) throw this.#refusal()
    const owed = writes.map((write): OwedRecord =>
      owedAfter(this.#owed.get(idOf(write)), {
        kind: write.kind,
        key: write.key,
        expected: this.#expectedOf(write, tried),
        want: textOf(write.record),
      }),
    )
    this.#owe(owed)
    const notes = [...owed.map(noteOf), ...writes.flatMap(write => this.#copy(write))]
    await this.#journal.commit(local, events, notes)
    // A later change of these records is based on what is owed.
    return new Map(writes.map(write => [idOf(write), null]))
  }

  #owe(records: readonly OwedRecord[]): void {
    for (const record of records) this.#owed.set(idOf(record), { ...record })
    this.#recover()
  }

  #refusal(cause?: unknown): Problem {
    const { reason, since } = this.#away ?? { reason: 'it did not answer', since: this.#options.now() }
    return new Problem(
      'IPK_STORE_AWAY',
      `${this.kind} ${this.location} is away since ${new Date(since).toISOString()} (${reason}): a new claim has to wait until it is back`,
      cause === undefined ? {} : { cause },
    )
  }

  // ---- Copies: what this node could not do without

  #copy({ kind, key, record }: SharedWrite): readonly Note[] {
    return this.#noteCopy(kind, key, record && this.#isOfUseHere(kind, record) ? textOf(record) : null)
  }

  #noteCopy(kind: SharedKind, key: string, text: string | null): readonly Note[] {
    const id = idOf({ kind, key })
    if (text === null && !this.#copies.has(id)) return []
    if (text === null) this.#copies.delete(id)
    else this.#copies.add(id)
    return [{ kind: 'copy', key: id, text: text === null ? null : JSON.stringify({ kind, key, text }) }]
  }

  /** What is bound here, whose it is, and the pools. */
  #isOfUseHere(kind: SharedKind, record: object): boolean {
    const { node } = this.#options
    if (kind === 'lease') {
      const lease = record as LeaseRecord
      return lease.node === node && lease.state === 'bound'
    }
    return kind === 'holder' ? (record as HolderRecord).sandbox?.node === node : kind === 'pool'
  }

  /** Notes that make the copies of the journal those of what the engine was heard to have. */
  #staleCopies(copies: readonly StampedRecord[]): readonly Note[] {
    const texts = new Map(copies.map(copy => [idOf(copy), copy.text]))
    const mine = JSON.stringify(this.#options.node)
    const notes: Note[] = []
    for (const [id, { kind, key, text }] of this.#known) {
      texts.delete(id)
      // Parsing all of a large cluster's records would cost most of the start.
      const candidate = kind === 'pool' || text.includes(mine)
      const wanted = candidate && this.#isOfUseHere(kind, JSON.parse(text) as object)
      notes.push(...this.#noteCopy(kind, key, wanted ? text : null))
    }
    for (const { kind, key } of copies)
      if (texts.has(idOf({ kind, key }))) notes.push(...this.#noteCopy(kind, key, null))
    return notes
  }

  #readNotes(): readonly StampedRecord[] {
    const copies: StampedRecord[] = []
    this.#journal.loadNotes(({ kind, key, text }) => {
      if (kind === 'copy') {
        this.#copies.add(key)
        // Its version was not kept: of an engine that is away nothing can be changed by it.
        copies.push({ ...(JSON.parse(text) as Omit<StampedRecord, 'stamp'>), stamp: 0 })
      } else if (kind === 'owed') this.#owed.set(key, JSON.parse(text) as OwedRecord)
    })
    return copies
  }

  // ---- Hearing

  #isBusy(id: string): boolean {
    return this.#tails.has(id) || this.#reading.has(id) || this.#settling === id
  }

  #replace(records: readonly StampedRecord[]): void {
    this.#contact()
    const seen = new Set<string>()
    for (const record of records) {
      seen.add(idOf(record))
      this.#hear(record)
    }
    for (const [id, { kind, key }] of [...this.#known]) if (!seen.has(id)) this.#hear({ kind, key })
    this.#firstList?.()
    this.#firstList = undefined
  }

  #hear(news: StampedRecord | RecordName): void {
    const id = idOf(news)
    // What is stashed is older: it may not come after this.
    if (this.#isBusy(id) || this.#stash.has(id)) this.#stash.set(id, news)
    else this.#take(news)
  }

  #take(news: StampedRecord | RecordName): void {
    const id = idOf(news)
    const known = this.#known.get(id)
    const text = 'stamp' in news ? news.text : null
    if ('stamp' in news) {
      if (known && known.stamp >= news.stamp) return
      this.#known.set(id, news)
    } else if (!this.#known.delete(id)) return
    this.#tell(news, text)
  }

  #tell({ kind, key }: RecordName, text: string | null): void {
    const id = idOf({ kind, key })
    // What is owed is settled first; until then it is what counts here. A commit under way finds out by itself.
    if (!this.#loaded || this.#owed.has(id) || this.#tails.has(id)) return
    this.#adopt?.({ kind, key, text })
    this.#refreshCopy(kind, key, text)
  }

  #refreshCopy(kind: SharedKind, key: string, text: string | null): void {
    const id = idOf({ kind, key })
    if (kind !== 'pool' && !this.#copies.has(id)) return
    const stays = text !== null && this.#isOfUseHere(kind, JSON.parse(text) as object)
    // A copy of old is compared with the engine before anything comes of it.
    void this.#journal.commit([], [], this.#noteCopy(kind, key, stays ? text : null)).catch(() => undefined)
  }

  /** Passes on what was heard meanwhile, after whoever waited for this record has gone on. */
  #unstash(id: string): void {
    if (!this.#stash.has(id)) return
    setImmediate(() => {
      const news = this.#stash.get(id)
      if (!news || this.#isBusy(id)) return
      this.#stash.delete(id)
      this.#take(news)
    })
  }

  #contact(): void {
    this.#heardAt = this.#options.monotonic()
  }

  #tellTrouble(reason: string | undefined): void {
    if (reason === undefined) {
      this.#contact()
      this.#trouble = undefined
    } else this.#trouble = { reason, since: this.#trouble?.since ?? this.#options.now() }
    if (this.#loaded && !this.#away) this.#options.onStatus(this.#status())
  }

  // ---- Away and back

  #status(): StoreStatus {
    const owed = this.#owed.size
    if (this.#away) return { state: 'away', ...this.#away, owed }
    return { state: 'ready', ...this.#trouble, owed }
  }

  #failedWith(error: unknown): void {
    if (!(error instanceof EngineAway)) throw error
    this.#goAway(error.message)
  }

  #goAway(reason: string): void {
    if (this.#away || this.#stopping.signal.aborted) return
    this.#away = { reason, since: this.#options.now() }
    this.#options.onStatus(this.#status())
    this.#recover()
  }

  /** Begins to settle what is owed, unless that is under way. */
  #recover(): void {
    this.#recovering ??= this.#untilReady().finally(() => {
      this.#recovering = undefined
      // Something may have gone wrong just after it was well.
      if ((this.#away || this.#owed.size > 0) && !this.#stopping.signal.aborted) this.#recover()
    })
  }

  async #untilReady(): Promise<void> {
    const { retryAfter = 1000 } = this.#options
    const { signal } = this.#stopping
    const stopping = (): boolean => signal.aborted
    for (let tries = 0; !stopping(); tries++) {
      try {
        if (tries > 0 || this.#away)
          await pause(retryAfter * (tries === 0 ? 0.1 : 1), undefined, { signal }).catch(() => undefined)
        if (stopping()) return
        await this.#engine.probe()
        this.#contact()
        await this.#settleAll()
        if (this.#owed.size > 0) continue
        const wasAway = this.#away !== undefined
        this.#away = undefined
        if (wasAway) this.#options.onStatus(this.#status())
        return
      } catch (error) {
        if (stopping()) return
        const reason = toProblem(error).message
        if (this.#away) this.#away = { ...this.#away, reason }
        else this.#goAway(reason)
      }
    }
  }

  /** Nothing else is committed meanwhile, so that what is owed stays what it is. */
  async #settleAll(): Promise<void> {
    const gate = Promise.withResolvers<undefined>()
    this.#gate = gate.promise
    try {
      await Promise.allSettled(this.#passed)
      for (const owed of [...this.#owed.values()]) {
        this.#settling = idOf(owed)
        await this.#settle(owed)
        this.#unstash(this.#settling)
      }
    } finally {
      this.#settling = undefined
      this.#gate = undefined
      gate.resolve(undefined)
    }
  }

  async #settle(owed: Owed): Promise<void> {
    const { kind, key, want } = owed
    for (;;) {
      const present = await this.#ask(owed)
      const what = settlement(owed, present?.text ?? null)
      if (what === 'done') {
        owed.stamp = present?.stamp ?? null
      } else if (what === 'write') {
        try {
          const [stamp = null] = await this.#engine.commit([
            { kind, key, base: present?.stamp ?? null, text: want },
          ])
          owed.stamp = stamp
          if (want === null || stamp === null) this.#known.delete(idOf(owed))
          else this.#known.set(idOf(owed), { kind, key, text: want, stamp })
        } catch (error) {
          if (error instanceof StoreConflict) continue
          throw error
        }
      }
      await this.#journal.commit([], [], [forgotten(owed)])
      this.#owed.delete(idOf(owed))
      if (what === 'theirs') this.#theirs(owed, present?.text ?? null)
      return
    }
  }

  /** Somebody else's change stands; a commit that waits at the gate finds that out by itself. */
  #theirs({ kind, key, want }: OwedRecord, text: string | null): void {
    const lost = kind === 'lease' && want !== null && this.#isOfUseHere(kind, JSON.parse(want) as object)
    if (lost) this.#options.onLost({ kind, key })
    this.#tell({ kind, key }, text)
  }

  // ---- The rest of the contract

  async history(query: HistoryQuery): Promise<readonly HistoryEntry[]> {
    return await this.#journal.history(query)
  }

  async pruneHistory(rule: HistoryRule): Promise<number> {
    return await this.#journal.pruneHistory(rule)
  }

  async probe(): Promise<void> {
    this.#assertOpen()
    await this.#journal.probe()
    if (this.#away) return
    try {
      await this.#engine.probe()
    } catch (error) {
      this.#failedWith(error)
    }
  }

  async close(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    await Promise.allSettled(this.#passed)
    this.#stopping.abort()
    await this.#recovering
    await this.#engine.stop()
    await this.#journal.close()
  }

  #assertOpen(): void {
    if (this.#stopping.signal.aborted)
      throw new Problem('IPK_STORE_FAILED', `store ${this.location} is closed`)
  }
}

const noteOf = ({ kind, key, expected, want }: OwedRecord): Note => ({
  kind: 'owed',
  key: idOf({ kind, key }),
  text: JSON.stringify({ kind, key, expected, want }),
})

const forgotten = ({ kind, key }: OwedRecord): Note => ({
  kind: 'owed',
  key: idOf({ kind, key }),
  text: null,
})

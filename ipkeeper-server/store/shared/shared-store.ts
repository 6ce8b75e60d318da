import { setTimeout as pause } from 'node:timers/promises'
import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import type { HistoryEntry, HistoryEvent } from '../../ipam/history-entry.ts'
import {
  attachmentKey,
  isCondition,
  type Change,
  type HolderRecord,
  type LeaseRecord,
  type RecordKind,
  type RecordTypes,
  type Write,
} from '../../ipam/records.ts'
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
import { JournalCopies } from './journal-copies.ts'
import { KnownRecords } from './known-records.ts'
import { LateCommits } from './late-commits.ts'
import { mayChangeAlone, owedAfter, settlement, type OwedRecord } from './owed-record.ts'
import { recordId, type RecordName } from './record-name.ts'

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
  /**
   * For somebody who compares and copies records while no daemon runs: opening leaves the copies of the journal, which may
   * be of another engine, and what the engine has. settle: but for what that is still owed. look: not even that, and what
   * is read is as if it had been told. write: what is owed stays so until a daemon starts, since it is about records that may
   * only be on their way into this engine, out of a backup of the one that had them.
   */
  readonly offline?: 'settle' | 'look' | 'write'
  /** The engine went away, came back, or can be written to but not be heard. */
  readonly onStatus: (status: StoreStatus) => void
  /** While the engine was away, somebody else took what was bound here. */
  readonly onLost: (record: RecordName) => void
}

/** Milliseconds between two looks whether an owed record is settled; the engine is there, so that it will be soon. */
const unsettledPause = 10

/** So many owed records are settled side by side: nothing else is committed meanwhile. */
const settledAtOnce = 16

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
  /** Grows when it is told to the engine, as the answer may be lost. */
  expected: OwedRecord['expected']
  /** After it was settled: the stamp that it has in the engine; undefined when somebody else's change stands. */
  stamp?: number | null
}

/** undefined for a record that somebody wrote by hand. */
const generationOf = (text: string): number | undefined => {
  // In a text of somebody's a quotation mark would have a backslash before it.
  const [, digits] = /"generation":(\d+)/.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits)
}

const textOf = (record: object | null): string | null => (record === null ? null : JSON.stringify(record))

function isShared(write: Write): write is SharedWrite {
  return write.kind !== 'attachment'
}

/** Without conditions: those are compared, and nothing is to be remembered of them. */
const withoutConditions = <T extends SharedWrite>(writes: readonly T[]): readonly T[] =>
  writes.filter(write => !isCondition(write))

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
  readonly #known: KnownRecords
  readonly #owed = new Map<string, Owed>()
  readonly #copies: JournalCopies
  readonly #late: LateCommits
  /** The last commit under way of each record. */
  readonly #tails = new Map<string, Pending>()
  /** Owed records that are being settled. */
  readonly #settling = new Set<string>()
  readonly #stopping = new AbortController()
  /** Commits that have passed the gate. */
  readonly #passed = new Set<Promise<unknown>>()
  #adopt: ((news: StoreNews) => void) | undefined
  #begun: Promise<void> | undefined
  /** Whether the engine has told of all there is, of which the journal has copies of a part only. */
  #listed = false
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
    this.#copies = new JournalCopies(options.node)
    this.#late = new LateCommits(options.now)
    this.#known = new KnownRecords({
      engine: options.engine,
      isChanging: id => this.#tails.has(id) || this.#settling.has(id),
      onContact: () => {
        this.#contact()
      },
      onChange: (name, text) => {
        this.#tell(name, text)
      },
    })
    this.kind = options.engine.kind
    this.location = options.engine.location
    this.shared = {
      follow: adopt => {
        this.#adopt = adopt
      },
      status: () => this.#status(),
      silence: () => options.monotonic() - this.#heardAt,
      ignores: options.engine.ignores,
    }
  }

  // ---- Reading

  async load(visit: (stored: StoredRecord) => void): Promise<void> {
    this.#assertOpen()
    this.#begun ??= this.#begin()
    await this.#begun
    await this.#journal.load(visit)
    for (const { kind, key, text } of this.#known.values()) {
      if (!this.#owed.has(recordId({ kind, key }))) visit({ kind, key, text })
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
        this.#contact()
        this.#known.replace(records)
        this.#listed = true
        this.#firstList?.()
      },
      put: record => {
        this.#known.hear(record)
      },
      remove: (kind, key) => {
        this.#known.hear({ kind, key })
      },
      trouble: reason => {
        this.#tellTrouble(reason)
      },
    })
    const { patience = 10_000 } = this.#options
    const late = pause(patience, 'late', { signal: this.#stopping.signal, ref: false }).catch(() => 'late')
    if ((await Promise.race([listed, late])) === 'late') {
      // What the ledger is told now is compared with what the engine has as soon as it is heard.
      for (const copy of copies) this.#known.set(copy, copy.text, copy.stamp)
      this.#goAway(this.#trouble?.reason ?? `no answer within ${patience} ms`)
    }
    if (!this.#away && !this.#options.offline) {
      await this.#reclaim(copies)
      for (const { kind, key, text } of this.#known.values()) {
        const owed = this.#late.owedAfter({ kind, key }, text)
        if (owed) this.#owed.set(recordId(owed), { ...owed })
      }
    }
    if (this.#owed.size > 0) this.#recover()
    if (!this.#away && !this.#options.offline)
      await this.#journal.commit([], [], this.#copies.listed(this.#known.values()))
  }

  /**
   * What was bound here, whose attachment is still on record, and of which the engine knows nothing: it was restored from
   * a backup, or is another one. It gets its lease again, unless somebody else has the address.
   */
  async #reclaim(copies: readonly StampedRecord[]): Promise<void> {
    const lost: OwedRecord[] = []
    for (const { kind, key, text } of copies) {
      if (this.#known.get({ kind, key }) || this.#owed.has(recordId({ kind, key }))) continue
      if (kind !== 'lease' && kind !== 'holder') continue
      const { attachment } = JSON.parse(text) as LeaseRecord | HolderRecord
      if (!attachment || !(await this.#journal.read('attachment', attachmentKey(attachment)))) continue
      lost.push({ kind, key, expected: [null], want: text })
    }
    await this.#journal.commit([], [], lost.map(noteOf))
    for (const record of lost) this.#owed.set(recordId(record), { ...record })
  }

  #readNotes(): readonly StampedRecord[] {
    const copies: StampedRecord[] = []
    this.#journal.loadNotes(({ kind, key, text }) => {
      if (kind === 'copy') copies.push(this.#copies.found(key, text))
      else if (kind === 'owed') {
        if (this.#options.offline !== 'write') this.#owed.set(key, JSON.parse(text) as OwedRecord)
      } else this.#late.found(text)
    })
    return copies
  }

  async read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined> {
    this.#assertOpen()
    if (kind === 'attachment') return await this.#journal.read(kind, key)
    const text = await this.#readShared(kind, key)
    return text === null ? undefined : (JSON.parse(text) as RecordTypes[K])
  }

  async #readShared(kind: SharedKind, key: string): Promise<string | null> {
    const id = recordId({ kind, key })
    const owed = this.#owed.get(id)
    if (owed) return owed.want
    if (!this.#away) {
      try {
        return (await this.#known.ask({ kind, key }))?.text ?? null
      } catch (error) {
        this.#failedWith(error)
      }
    }
    return this.#owed.get(id)?.want ?? this.#known.get({ kind, key })?.text ?? null
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
    const ids = writes.map(recordId)
    const before = new Set(ids.flatMap(id => this.#tails.get(id) ?? []))
    const ended = Promise.withResolvers<undefined>()
    const generations = new Map(writes.map(write => [recordId(write), write.record?.generation ?? null]))
    const pending: Pending = { ended: ended.promise, generations }
    for (const id of ids) this.#tails.set(id, pending)
    try {
      await Promise.all(Array.from(before, ({ ended: other }) => other))
      while (this.#gate || this.#isUnsettled(ids)) await (this.#gate ?? pause(unsettledPause))
      this.#assertOpen()
      const stamps = bases.map(basis => basis?.())
      const gone = writes.find((_, index) => stamps[index] === undefined)
      if (gone) throw new StoreConflict(gone.kind, gone.key)
      const based = writes.map((write, index) => ({ ...write, base: stamps[index] ?? null }))
      pending.stamps = await this.#counted(this.#carryOut(based, local, events))
    } finally {
      for (const id of ids) {
        if (this.#tails.get(id) === pending) this.#tails.delete(id)
        this.#known.unstash(id)
      }
      ended.resolve(undefined)
    }
  }

  /** Whether the engine is about to be told of one of these: until then nothing can be compared with what it has. */
  #isUnsettled(ids: readonly string[]): boolean {
    return !this.#away && !this.#stopping.signal.aborted && ids.some(id => this.#owed.has(id))
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
    const id = recordId({ kind, key })
    const earlier = this.#tails.get(id)
    if (earlier) {
      const buildsOnIt = earlier.generations.get(id) === expect
      return () => {
        if (buildsOnIt) return earlier.stamps?.get(id)
        return earlier.stamps ? undefined : this.#presentBasis({ kind, key }, expect)?.()
      }
    }
    return this.#presentBasis({ kind, key }, expect)
  }

  #presentBasis(name: RecordName, expect: number | null): Basis | undefined {
    const id = recordId(name)
    const owed = this.#owed.get(id)
    const text = owed ? owed.want : (this.#known.get(name)?.text ?? null)
    if ((text === null ? null : generationOf(text)) !== expect) return undefined
    // When the engine has come back meanwhile, it has what was owed to it or something else by now.
    if (owed) return () => (this.#owed.get(id) === owed ? null : owed.stamp)
    const stamp = this.#known.get(name)?.stamp ?? null
    return () => stamp
  }

  async #carryOut(
    writes: readonly (SharedWrite & { readonly base: number | null })[],
    local: Change,
    events: readonly HistoryEvent[],
  ): Promise<ReadonlyMap<string, number | null>> {
    if (this.#away) return await this.#carryOutAlone(writes, local, events)
    const isAdd = local.some(({ record }) => record !== null)
    const real = withoutConditions(writes)
    const intents = real.map(write => this.#takenBack(write))
    if (isAdd) await this.#journal.commit([], [], intents.map(noteOf))
    let stamps: readonly (number | null)[]
    try {
      stamps = await this.#engine.commit(
        writes.map(write => {
          const { kind, key, base, record } = write
          return { kind, key, base, text: isCondition(write) ? undefined : textOf(record) }
        }),
      )
    } catch (error) {
      if (error instanceof EngineAway) {
        this.#goAway(error.message)
        if (this.#allMayChangeAlone(real)) return await this.#carryOutAlone(writes, local, events, true)
        this.#owe(intents)
        if (!isAdd) await this.#journal.commit([], [], intents.map(noteOf))
        throw this.#refusal(error)
      }
      // An engine that refuses (a missing right, no space) must not keep a DEL from ending.
      if (!isAdd && !(error instanceof StoreConflict) && this.#allMayChangeAlone(real)) {
        this.#goAway(toProblem(error).message)
        return await this.#carryOutAlone(writes, local, events)
      }
      // Before any later note of these records.
      if (isAdd) void this.#journal.commit([], [], intents.map(forgotten)).catch(() => undefined)
      throw error
    }
    this.#contact()
    const written = new Map<string, number | null>()
    for (const [index, write] of writes.entries()) {
      const stamp = stamps[index] ?? null
      written.set(recordId(write), stamp)
      if (real.includes(write)) this.#known.set(write, textOf(write.record), stamp)
    }
    const notes = [
      ...(isAdd ? intents.map(forgotten) : []),
      ...this.#copyAll(real),
      ...real.flatMap(write => this.#late.wrote(write, textOf(write.record))),
    ]
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
    const before = this.#known.get({ kind, key })?.text ?? null
    return { kind, key, expected: [before, textOf(record)], want: before }
  }

  #expectedOf({ kind, key, record }: SharedWrite, tried: boolean): OwedRecord['expected'] {
    const id = recordId({ kind, key })
    const owed = this.#owed.get(id)
    if (owed) return owed.expected
    const before = this.#known.get({ kind, key })?.text ?? null
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
    const real = withoutConditions(writes)
    if (!this.#allMayChangeAlone(real)) throw this.#refusal()
    const owed = real.map((write): OwedRecord =>
      owedAfter(this.#owed.get(recordId(write)), {
        kind: write.kind,
        key: write.key,
        expected: this.#expectedOf(write, tried),
        want: textOf(write.record),
      }),
    )
    await this.#journal.commit(local, events, [...owed.map(noteOf), ...this.#copyAll(real)])
    this.#owe(owed)
    // A later change of these records is based on what is owed.
    return new Map(writes.map(write => [recordId(write), null]))
  }

  #copyAll(writes: readonly SharedWrite[]): readonly Note[] {
    return writes.flatMap(write => this.#copies.written(write, write.record))
  }

  #owe(records: readonly OwedRecord[]): void {
    for (const record of records) this.#owed.set(recordId(record), { ...record })
    this.#recover()
  }

  #refusal(cause?: unknown): Problem {
    const now = this.#options.now()
    const { reason, since } = this.#away ?? { reason: 'it did not answer', since: now }
    const seconds = Math.max(Math.round((now - since) / 1000), 0)
    return new Problem(
      'IPK_STORE_AWAY',
      `${this.kind} ${this.location} is away for ${seconds} s (${reason}): a new claim has to wait until it is back`,
      cause === undefined ? {} : { cause },
    )
  }

  // ---- What is heard

  #tell({ kind, key }: RecordName, text: string | null): void {
    const id = recordId({ kind, key })
    // What is owed is settled first; until then it is what counts here. A commit under way finds out by itself.
    if (!this.#loaded || this.#owed.has(id) || this.#tails.has(id)) return
    const owed = this.#late.owedAfter({ kind, key }, text)
    if (owed) {
      this.#owe([owed])
      void this.#journal.commit([], [], [noteOf(owed)]).catch(() => undefined)
      // The ledger may still have what somebody else had in between, if news of its end was passed over.
      this.#adopt?.({ kind, key, text: owed.want })
      return
    }
    this.#adopt?.({ kind, key, text })
    const notes = this.#copies.heard({ kind, key }, text)
    // A copy of old is compared with the engine before anything comes of it.
    if (notes.length > 0) void this.#journal.commit([], [], notes).catch(() => undefined)
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
    if (this.#options.offline === 'look') return
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
        await this.#engine.fence()
        this.#contact()
        await this.#settleAll()
        if (this.#owed.size > 0) continue
        // Nobody may be given what the list would tell to be reserved for or kept by somebody else.
        if (!this.#listed) throw new EngineAway(this.#trouble?.reason ?? 'its records were not heard yet')
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
      const waiting = [...this.#owed.values()]
      const refused: Problem[] = []
      const work = async (): Promise<void> => {
        for (let owed = waiting.shift(); owed; owed = waiting.shift()) {
          const id = recordId(owed)
          this.#settling.add(id)
          try {
            await this.#settle(owed)
          } catch (error) {
            // One that the engine will not take must not keep it from the others.
            if (error instanceof Problem) refused.push(error)
            else {
              waiting.length = 0
              throw error
            }
          } finally {
            this.#settling.delete(id)
            this.#known.unstash(id)
          }
        }
      }
      const outcomes = await Promise.allSettled(Array.from({ length: settledAtOnce }, work))
      const failed = outcomes.find(outcome => outcome.status === 'rejected')
      if (failed) throw failed.reason
      if (refused[0]) throw refused[0]
    } finally {
      this.#gate = undefined
      gate.resolve(undefined)
    }
  }

  async #settle(owed: Owed): Promise<void> {
    const { kind, key, want } = owed
    for (;;) {
      const present = await this.#known.ask(owed)
      const what = settlement(owed, present?.text ?? null)
      if (what === 'done') {
        owed.stamp = present?.stamp ?? null
      } else if (what === 'write') {
        // Should the answer be lost, and the record change here again, then the engine may have what is wanted now.
        if (!owed.expected.includes(want)) {
          const expected = [...owed.expected, want]
          await this.#journal.commit([], [], [noteOf({ ...owed, expected })])
          owed.expected = expected
        }
        try {
          const [stamp = null] = await this.#engine.commit([
            { kind, key, base: present?.stamp ?? null, text: want },
          ])
          owed.stamp = stamp
          this.#known.set(owed, want, stamp)
        } catch (error) {
          if (error instanceof StoreConflict) continue
          throw error
        }
      }
      const late = this.#engine.fences ? [] : this.#late.settled(owed)
      await this.#journal.commit([], [], [forgotten(owed), ...late])
      this.#owed.delete(recordId(owed))
      if (what === 'theirs') this.#theirs(owed, present?.text ?? null)
      return
    }
  }

  /** Somebody else's change stands; a commit that waits at the gate finds that out by itself. */
  #theirs({ kind, key, want }: OwedRecord, text: string | null): void {
    const lost =
      kind === 'lease' && want !== null && this.#copies.isOfUseHere(kind, JSON.parse(want) as object)
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

  async adoptHistory(entries: readonly HistoryEntry[]): Promise<void> {
    await this.#journal.adoptHistory(entries)
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
  key: recordId({ kind, key }),
  text: JSON.stringify({ kind, key, expected, want }),
})

const forgotten = ({ kind, key }: OwedRecord): Note => ({
  kind: 'owed',
  key: recordId({ kind, key }),
  text: null,
})

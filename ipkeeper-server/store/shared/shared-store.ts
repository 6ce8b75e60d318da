import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import { setTimeout as pause } from 'node:timers/promises'
import type { HistoryEntry, HistoryEvent } from '../../ipam/records/history-entry.ts'
import {
  attachmentKey,
  isCondition,
  type Change,
  type HolderRecord,
  type LeaseRecord,
  type RecordKind,
  type RecordTypes,
  type Write,
  isTakenAway,
} from '../../ipam/records/records.ts'
import { releasedLease } from '../../ipam/plan/plan-release.ts'
import type { PoolBook } from '../../ipam/pools/pool-settings.ts'
import {
  StoreConflict,
  type FileAspect,
  type HistoryQuery,
  type HistoryRule,
  type LeaseStore,
  type SharedAspect,
  type StoredRecord,
  type StoreNews,
  type StoreStatus,
} from '../lease-store.ts'
import { endedElsewhere, Endings, notEnded } from './endings.ts'
import {
  EngineAway,
  type Engine,
  type EnginePosition,
  type SharedKind,
  type StampedRecord,
} from './engine.ts'
import { EngineLosses } from './engine-losses.ts'
import type { Journal, Note } from './journal.ts'
import { JournalCopies } from './journal-copies.ts'
import { KnownRecords } from './known-records.ts'
import { LateCommits } from './indeterminate-commits.ts'
import { mayChangeAlone, owedAfter, settlement, type OwedRecord } from './pending-write.ts'
import { recordId, type RecordName } from './record-name.ts'
import { tellAgain } from './tell-again.ts'

export interface SharedStoreOptions {
  readonly engine: Engine
  readonly journal: Journal
  /** This one. */
  readonly node: string
  /** What it may be called in its records besides, while it gets another name. */
  readonly formerNames?: readonly string[]
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds of CLOCK_MONOTONIC, of the present boot. */
  readonly monotonic: () => number
  readonly bootId: string
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
  /** While the engine was away, or had lost records, somebody else took what was bound here. */
  readonly onLost: (had: LeaseRecord) => void
  /** What becomes of a lease whose pod has ended; without it, it rests for a minute, or is kept. */
  readonly released?: (lease: LeaseRecord) => LeaseRecord
}

/** Milliseconds between two looks whether an owed record is settled; the engine is there, so that it will be soon. */
const unsettledPause = 10

/** So many owed records are settled side by side: nothing else is committed meanwhile. */
const settledAtOnce = 16

/** For a store that is told of no pools: of when a pod has ended nobody knows any more, and its address rests for a minute. */
const standardRest: PoolBook = {
  pools: [],
  standard: { retention: 'release', cooldown: 60_000, preferFor: 60_000, strategy: 'lowest-free' },
}

/** Looks for what waits for another node come so many times as seldom as those for an engine that is away. */
const waitingPauses = 10

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
 * - From an engine that has lost records nothing new is taken before it has been told again what every node holds
 *   (ipam/engine-loss.ts). What is bound on this node by its journal stays so meanwhile, whatever the engine says.
 */
export class SharedStore implements LeaseStore {
  readonly kind: string
  readonly location: string
  readonly shared: SharedAspect
  /** The journal's: of the records it has the attachments alone. */
  readonly file: FileAspect | undefined
  readonly #options: SharedStoreOptions
  readonly #engine: Engine
  readonly #journal: Journal
  readonly #known: KnownRecords
  readonly #owed = new Map<string, Owed>()
  readonly #names: readonly string[]
  readonly #copies: JournalCopies
  readonly #late: LateCommits
  readonly #losses: EngineLosses
  readonly #endings: Endings
  /** Whether what is owed after a loss is in the journal. */
  #noted = Promise.resolve(true)
  /** Owed records that wait for another node to tell what it holds. */
  readonly #waiting = new Set<string>()
  /** Whether something was heard that they may wait for, since they were looked at. */
  #isNews = false
  #onNews: () => void = () => undefined
  /** A list is being taken over, which is judged as a whole. */
  #listing = false
  /** The last commit under way of each record. */
  readonly #tails = new Map<string, Pending>()
  /** Owed records that are being settled. */
  readonly #settling = new Set<string>()
  readonly #stopping = new AbortController()
  /** Commits that have passed the gate. */
  readonly #passed = new Set<Promise<unknown>>()
  #adopt: ((news: StoreNews) => void) | undefined
  #begun: Promise<void> | undefined
  #takenAtStart: readonly LeaseRecord[] = []
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
    this.#names = [options.node, ...(options.formerNames ?? [])]
    this.#copies = new JournalCopies(this.#names)
    this.#late = new LateCommits(options.monotonic, options.bootId)
    this.#known = new KnownRecords({
      engine: options.engine,
      isChanging: id => this.#isChanging(id),
      onContact: () => {
        this.#contact()
      },
      onChange: (name, text, before) => {
        if (text !== null || !this.#reclaims(name, before)) this.#tell(name, text)
      },
    })
    const isOwn = (name: string): boolean => this.#isOwn(name)
    this.#endings = new Endings(options.engine, this.#known, isOwn)
    this.#losses = new EngineLosses({
      ...{ engine: options.engine, known: this.#known, node: options.node, isOwn, now: options.now },
      isOffline: options.offline !== undefined,
      note: notes => {
        void this.#journal.commit([], [], notes).catch(() => undefined)
      },
      onLoss: reason => {
        this.#lose(reason, [...this.#known.values()])
      },
      onChange: () => {
        // What waits for a node may go on.
        this.#wake()
        if (this.#waiting.size > 0 || !this.#losses.isTold()) this.#recover()
        if (this.#loaded) this.#options.onStatus(this.#status())
      },
    })
    const { file } = options.journal
    const own = (records: readonly StoredRecord[]): readonly StoredRecord[] =>
      records.filter(({ kind }) => kind === 'attachment')
    this.file = file && {
      ...file,
      rescue: records => file.rescue(own(records)),
      saveBeside: records => file.saveBeside(own(records)),
    }
    this.kind = options.engine.kind
    this.location = options.engine.location
    this.shared = {
      follow: adopt => {
        this.#adopt = adopt
      },
      status: () => this.#status(),
      isHeard: () => this.#listed,
      takenAtStart: () => this.#takenAtStart,
      silence: () => options.monotonic() - this.#heardAt,
      get ignores() {
        return options.engine.ignores.filter(kind => kind !== 'ending')
      },
    }
  }

  // ---- Reading

  async load(visit: (stored: StoredRecord) => void): Promise<void> {
    this.#assertOpen()
    this.#begun ??= this.#begin()
    await this.#begun
    await this.#journal.load(visit)
    for (const { kind, key, text } of this.#known.values())
      if (kind !== 'ending' && !this.#owed.has(recordId({ kind, key }))) visit({ kind, key, text })
    for (const { kind, key, want } of this.#owed.values())
      if (kind !== 'ending' && want !== null) visit({ kind, key, text: want })
    this.#loaded = true
  }

  /** Hears the engine out, or gives up waiting for it. */
  async #begin(): Promise<void> {
    const copies = this.#readNotes()
    const listed = new Promise<void>(resolve => (this.#firstList = resolve))
    this.#engine.start({
      replace: (records, position) => {
        this.#contact()
        this.#listAll(records, position)
        this.#firstList?.()
      },
      broke: reason => {
        this.#losses.broke(reason)
        this.#listed = false
        this.#goAway(reason)
      },
      put: record => {
        this.#losses.passed(record.stamp)
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
      // What is to be told again is not what the engine has.
      const isCurrent = this.#losses.count === 0 && this.#losses.isTold()
      if (isCurrent) this.#takenAtStart = takenSince(copies, this.#known, this.#endings.own())
      await this.#reclaim(notEnded(copies, this.#endings.own()))
      for (const { kind, key, text } of this.#known.values()) {
        const owed = this.#late.owedAfter({ kind, key }, text)
        if (owed) this.#owed.set(recordId(owed), { ...owed })
      }
    }
    if (this.#owed.size > 0 || !this.#losses.isTold()) this.#recover()
    if (!this.#away && !this.#options.offline && this.#losses.count === 0 && this.#losses.isTold()) {
      const copied = this.#copies.listed(this.#known.values())
      await this.#journal.commit([], [], [...copied, this.#losses.note()])
      this.#forgetEndings()
    }
  }

  // ---- An engine that loses records

  #isOwn(node: string): boolean {
    return this.#names.includes(node)
  }

  #isChanging(id: string): boolean {
    return this.#tails.has(id) || this.#settling.has(id)
  }

  /** Nothing is settled before it is judged. */
  #listAll(records: readonly StampedRecord[], position: EnginePosition): void {
    const isFree = ([id]: readonly [string, number]): boolean => !this.#isChanging(id) && !this.#owed.has(id)
    const bound = (): ReadonlyMap<string, number> => new Map([...this.#copies.leases()].filter(isFree))
    const reason = this.#losses.judge(records, position, bound)
    if (reason !== undefined) this.#lose(reason, records)
    // Before the ledger hears of them, and asks.
    this.#listed = true
    this.#listing = true
    this.#known.replace(records, reason !== undefined)
    this.#listing = false
    this.#losses.heardAll(bound().size > 0)
  }

  /**
   * The engine has lost records. What is bound here is owed to it from here on; before that is in the journal, nothing of it
   * is told. The ledger hears nothing of it: to this node nothing has changed.
   */
  #lose(reason: string, records: readonly StampedRecord[]): void {
    this.#losses.lost(reason, records)
    for (const owed of this.#owed.values()) owed.again = true
    const copies: StampedRecord[] = []
    this.#journal.loadNotes(({ kind, key, text }) => {
      // What is being changed finds out by itself, and its note may be on its way.
      if (kind === 'copy' && this.#copies.hasId(key) && !this.#isChanging(key))
        copies.push(this.#copies.found(key, text))
    })
    // Their stamps are of what the engine was.
    const unstamped = copies.flatMap(copy =>
      this.#copies.written(copy, JSON.parse(copy.text) as object, null),
    )
    const again = tellAgain({
      copies: notEnded(
        copies,
        endedElsewhere(records, name => this.#isOwn(name)),
      ).filter(copy => !this.#owed.has(recordId(copy))),
      records: records.filter(record => !this.#owed.has(recordId(record))),
      isOwn: name => this.#isOwn(name),
      isBusy: id => this.#isChanging(id),
      released:
        this.#options.released ??
        (lease => releasedLease(lease, { pools: standardRest, now: this.#options.now() })),
    })
    for (const owed of again) this.#owed.set(recordId(owed), { ...owed })
    // At once: what is noted of these records later counts.
    this.#noted = this.#noteLoss(unstamped)
    this.#options.onStatus(this.#status())
    this.#recover()
  }

  /** Whether what is owed after a loss is in the journal. */
  async #noteLoss(notes: readonly Note[] = []): Promise<boolean> {
    try {
      await this.#journal.commit(
        [],
        [],
        [this.#losses.note(), ...notes, ...Array.from(this.#owed.values(), noteOf)],
      )
      return true
    } catch {
      return false
    }
  }

  /** What a loss has left out because a change of it was under way, which has failed. */
  #tellMissed(writes: readonly SharedWrite[]): void {
    const ids = new Set(writes.map(recordId))
    const missed: OwedRecord[] = []
    this.#journal.loadNotes(({ kind, key, text }) => {
      if (kind !== 'copy' || !ids.has(key) || this.#owed.has(key) || !this.#copies.hasId(key)) return
      const copy = this.#copies.found(key, text)
      const { kind: what, key: its, text: want } = copy
      if (what !== 'pool') missed.push({ kind: what, key: its, expected: [want], want, again: true })
    })
    if (missed.length === 0) return
    void this.#journal.commit([], [], missed.map(noteOf)).catch(() => undefined)
    this.#owe(missed)
  }

  #forgetEndings(): void {
    this.#endings.forget(id => this.#copies.hasId(id))
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

  /**
   * The same of what goes while the daemon runs, or started without the engine: whether it is owed now. Where others leave
   * no traces of what they end, whoever deletes what a sandbox has here knows less of it than this node does.
   */
  #reclaims({ kind, key }: RecordName, before: string | undefined): boolean {
    const id = recordId({ kind, key })
    if (before === undefined || this.#options.offline || !this.#engine.ignores.includes('ending'))
      return false
    if ((kind !== 'lease' && kind !== 'holder') || !this.#copies.hasId(id)) return false
    if (this.#owed.has(id) || this.#isChanging(id)) return false
    if (!this.#copies.isOfUseHere(kind, JSON.parse(before) as object)) return false
    const owed: OwedRecord = { kind, key, expected: [null], want: before }
    this.#owe([owed])
    void this.#journal.commit([], [], [noteOf(owed)]).catch(() => undefined)
    return true
  }

  #readNotes(): readonly StampedRecord[] {
    const copies: StampedRecord[] = []
    this.#journal.loadNotes(({ kind, key, text }) => {
      if (kind === 'copy') copies.push(this.#copies.found(key, text))
      else if (kind === 'engine') this.#losses.found(text)
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
    const losses = this.#losses.count
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
      pending.stamps = await this.#counted(this.#carryOut(based, local, events, losses))
    } catch (error) {
      if (losses !== this.#losses.count) this.#tellMissed(writes)
      throw error
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
    const isOpen = !this.#away && !this.#stopping.signal.aborted
    return isOpen && ids.some(id => this.#owed.has(id) && !this.#waiting.has(id))
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
    losses: number,
  ): Promise<ReadonlyMap<string, number | null>> {
    if (this.#away || writes.some(write => this.#waiting.has(recordId(write))))
      return await this.#carryOutAlone(writes, local, events, losses)
    const began = this.#losses.count
    const isClaim = writes.some(write => this.#isClaim(write))
    if (isClaim && !this.#losses.isWhole()) {
      // An engine that kept no records of nodes may have begun to.
      if (!this.#losses.isTold()) this.#recover()
      throw this.#losses.problem()
    }
    const { node, now } = this.#options
    const isAdd = local.some(({ record }) => record !== null)
    const real = withoutConditions(writes)
    const intents = real.map(write => this.#takenBack(write))
    if (isAdd) await this.#journal.commit([], [], intents.map(noteOf))
    let stamps: readonly (number | null)[]
    try {
      stamps = await this.#engine.commit([
        ...writes.map(write => {
          const { kind, key, base } = write
          return { kind, key, base, text: isCondition(write) ? undefined : this.#textOf(write) }
        }),
        ...real.flatMap(
          write => (write.kind === 'lease' && this.#endings.of(write, write.record, node, now())) || [],
        ),
      ])
      // Of an engine that has lost records nobody can tell whether it had what this was compared with.
      if (isClaim && began !== this.#losses.count) throw new EngineAway('it has lost records meanwhile')
    } catch (error) {
      if (error instanceof EngineAway) {
        this.#goAway(error.message)
        if (this.#allMayChangeAlone(real))
          return await this.#carryOutAlone(writes, local, events, losses, true)
        this.#owe(intents)
        if (!isAdd) await this.#journal.commit([], [], intents.map(noteOf))
        throw this.#refusal(error)
      }
      // An engine that refuses (a missing right, no space) must not keep a DEL from ending.
      if (!isAdd && !(error instanceof StoreConflict) && this.#allMayChangeAlone(real)) {
        this.#goAway(toProblem(error).message)
        return await this.#carryOutAlone(writes, local, events, losses)
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
      if (!real.includes(write)) continue
      const text = this.#textOf(write)
      this.#known.set(write, text, stamp)
      // What was just written is no news when the engine tells of it.
      if (write.kind === 'node') this.#hearOfNode(write.key, text)
    }
    const notes = [
      ...(isAdd ? intents.map(forgotten) : []),
      ...this.#copyAll(real, write => written.get(recordId(write)) ?? null),
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
    if (losses !== this.#losses.count) {
      const again = real.map(write => ({
        ...this.#takenBack(write),
        want: textOf(write.record),
        again: true as const,
      }))
      await this.#journal.commit([], [], again.map(noteOf))
      this.#owe(again)
    }
    return written
  }

  /** Whether it takes an address that nobody has here. */
  #isClaim(write: SharedWrite): boolean {
    if (write.kind !== 'lease' || write.record?.state !== 'bound' || isCondition(write)) return false
    return !this.#allMayChangeAlone([write])
  }

  #textOf(write: SharedWrite): string | null {
    const isOwnNode = write.kind === 'node' && write.record && this.#isOwn(write.key)
    return textOf(isOwnNode ? this.#losses.inEpoch(write.record) : write.record)
  }

  /** What is owed to the engine when a write turns out to have been for nothing. */
  #takenBack(write: SharedWrite): OwedRecord {
    const { kind, key } = write
    const before = this.#known.get({ kind, key })?.text ?? null
    return { kind, key, expected: [before, this.#textOf(write)], want: before }
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
      mayChangeAlone(write.kind, this.#expectedOf(write, false), write.record, name =>
        this.#names.includes(name),
      ),
    )
  }

  /**
   * @param losses that had been found when the change began: a later one has left these records out
   * @param tried the engine may have it already
   */
  async #carryOutAlone(
    writes: readonly SharedWrite[],
    local: Change,
    events: readonly HistoryEvent[],
    losses: number,
    tried = false,
  ): Promise<ReadonlyMap<string, number | null>> {
    const real = withoutConditions(writes)
    if (!this.#allMayChangeAlone(real)) throw this.#away ? this.#refusal() : this.#losses.problem()
    const owed = real.map((write): OwedRecord =>
      owedAfter(this.#owed.get(recordId(write)), {
        kind: write.kind,
        key: write.key,
        expected: this.#expectedOf(write, tried),
        want: textOf(write.record),
        ...(losses !== this.#losses.count && { again: true }),
      }),
    )
    const noted = this.#losses.count
    await this.#journal.commit(local, events, [...owed.map(noteOf), ...this.#copyAll(real)])
    const isLate = noted !== this.#losses.count
    const told = isLate ? owed.map(record => ({ ...record, again: true as const })) : owed
    if (isLate) await this.#journal.commit([], [], told.map(noteOf))
    this.#owe(told)
    // A later change of these records is based on what is owed.
    return new Map(writes.map(write => [recordId(write), null]))
  }

  #copyAll(
    writes: readonly SharedWrite[],
    stampOf: (write: SharedWrite) => number | null = () => null,
  ): readonly Note[] {
    return writes.flatMap(write => this.#copies.written(write, write.record, stampOf(write)))
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
    // A list is judged as a whole.
    if (kind === 'node' && !this.#listing) this.#hearOfNode(key, text)
    if (kind === 'ending') {
      if (this.#loaded && text !== null)
        setImmediate(() => {
          this.#forgetEndings()
        })
      return
    }
    const id = recordId({ kind, key })
    if (this.#waiting.has(id)) this.#wake()
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
    const notes = this.#copies.heard({ kind, key }, text, this.#known.get({ kind, key })?.stamp ?? null)
    // A copy of old is compared with the engine before anything comes of it.
    if (notes.length > 0) void this.#journal.commit([], [], notes).catch(() => undefined)
  }

  #hearOfNode(name: string, text: string | null): void {
    if (text === null) this.#losses.misses(name)
    else this.#losses.heardOf(text)
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
    const { lacks } = this.#engine
    const rest = { owed: this.#owed.size, ...(lacks !== undefined && { lacks }) }
    if (this.#away) return { state: 'away', ...this.#away, ...rest }
    const incomplete = this.#losses.status()
    if (incomplete) return { ...incomplete, ...rest }
    return { state: 'ready', ...this.#trouble, ...rest }
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
      const isOver = !this.#away && this.#owed.size === 0 && this.#losses.isTold()
      if (!isOver && !this.#stopping.signal.aborted) this.#recover()
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
        // Nobody may be given what the list would tell to be reserved for or kept by somebody else.
        if (!this.#listed) throw new EngineAway(this.#trouble?.reason ?? 'its records were not heard yet')
        await this.#settleAll()
        if (this.#owed.size > this.#waiting.size) continue
        if (!this.#losses.isTold()) await this.#losses.announce()
        const wasAway = this.#away !== undefined
        this.#away = undefined
        if (wasAway) this.#options.onStatus(this.#status())
        if (this.#waiting.size === 0) return
        await this.#newsOfWaiting(waitingPauses * retryAfter)
      } catch (error) {
        if (stopping()) return
        const reason = toProblem(error).message
        if (this.#away) this.#away = { ...this.#away, reason }
        else this.#goAway(reason)
      }
    }
  }

  /** Resolves when something is heard that records wait for, and after so many milliseconds at the latest. */
  async #newsOfWaiting(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(resolve, milliseconds, undefined).unref()
    const { signal } = this.#stopping
    this.#onNews = () => {
      resolve(undefined)
    }
    signal.addEventListener('abort', this.#onNews)
    // It may have come while they were looked at.
    if (signal.aborted || this.#isNews) this.#onNews()
    await promise
    signal.removeEventListener('abort', this.#onNews)
    clearTimeout(timer)
  }

  #wake(): void {
    this.#isNews = true
    this.#onNews()
  }

  /** Nothing else is committed meanwhile, so that what is owed stays what it is. */
  async #settleAll(): Promise<void> {
    const gate = Promise.withResolvers<undefined>()
    this.#gate = gate.promise
    try {
      await Promise.allSettled(this.#passed)
      if (!(await this.#noted)) this.#noted = this.#noteLoss()
      if (!(await this.#noted)) throw new EngineAway('the journal does not take what it is to be told')
      this.#isNews = false
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
      const what = settlement(owed, present?.text ?? null, text => this.#losses.userIs(kind, text))
      if (what === 'wait') {
        this.#waiting.add(recordId(owed))
        return
      }
      this.#waiting.delete(recordId(owed))
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
      const copied = what === 'theirs' ? [] : this.#copies.written(owed, recordOf(want), owed.stamp ?? null)
      await this.#journal.commit([], [], [forgotten(owed), ...copied, ...late])
      this.#owed.delete(recordId(owed))
      if (what === 'theirs') this.#theirs(owed, present?.text ?? null)
      return
    }
  }

  /** Somebody else's change stands; a commit that waits at the gate finds that out by itself. */
  #theirs({ kind, key, want }: OwedRecord, text: string | null): void {
    this.#tell({ kind, key }, text)
    if (kind !== 'lease' || want === null) return
    const had = JSON.parse(want) as LeaseRecord
    if (this.#copies.isOfUseHere(kind, had)) this.#options.onLost(had)
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
    // Up to where it was heard, for whoever starts next.
    if (this.#listed && !this.#options.offline)
      await this.#journal.commit([], [], [this.#losses.note()]).catch(() => undefined)
    await this.#engine.stop()
    await this.#journal.close()
  }

  #assertOpen(): void {
    if (this.#stopping.signal.aborted)
      throw new Problem('IPK_STORE_FAILED', `store ${this.location} is closed`)
  }
}

/** What copies say to be bound here, and the engine has otherwise by now. */
function takenSince(
  copies: readonly StampedRecord[],
  known: KnownRecords,
  ended: ReadonlyMap<string, number>,
): readonly LeaseRecord[] {
  return copies.flatMap(copy => {
    if (copy.kind !== 'lease') return []
    const present = known.get(copy)
    if (present?.text === copy.text) return []
    const had = JSON.parse(copy.text) as LeaseRecord
    if (!present) return (ended.get(recordId(copy)) ?? -1) >= had.generation ? [had] : []
    return isTakenAway(had, JSON.parse(present.text) as LeaseRecord) ? [had] : []
  })
}

const noteOf = ({ kind, key, expected, want, again }: OwedRecord): Note => ({
  kind: 'owed',
  key: recordId({ kind, key }),
  text: JSON.stringify({ kind, key, expected, want, ...(again && { again }) }),
})

const recordOf = (text: string | null): object | null => (text === null ? null : (JSON.parse(text) as object))

const forgotten = ({ kind, key }: OwedRecord): Note => ({
  kind: 'owed',
  key: recordId({ kind, key }),
  text: null,
})

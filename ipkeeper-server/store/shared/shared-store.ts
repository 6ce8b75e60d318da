import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../../shared/problem/problem.ts'
import type { HistoryEntry, HistoryEvent } from '../../ipam/records/history-entry.ts'
import {
  attachmentKey,
  isTakenAway,
  type AttachmentKey,
  type Change,
  type LeaseRecord,
  type NodeClaim,
  type RecordKind,
  type RecordTypes,
  type Write,
  recordId,
} from '../../ipam/records/records.ts'
import { releasedLease } from '../../ipam/plan/plan-release.ts'
import type { PoolBook } from '../../ipam/pools/pool-settings.ts'
import type {
  FileAspect,
  HistoryBegin,
  HistoryQuery,
  HistoryRule,
  LeaseStore,
  SharedAspect,
  StoredRecord,
  StoreNews,
  StoreStatus,
} from '../lease-store.ts'
import { CommitOrder, type SharedWrite } from './commit-order.ts'
import { EndedAttachments } from './ended-attachments.ts'
import { Endings } from './endings.ts'
import {
  isGuard,
  EngineAway,
  type Engine,
  type EnginePosition,
  type SharedRecordName,
  type SharedKind,
  type EngineRecord,
} from './engine.ts'
import { EngineContact } from './engine-contact.ts'
import { EngineLosses } from './engine-losses.ts'
import { IndeterminateCommits } from './indeterminate-commits.ts'
import { ownPart, type Journal } from './journal.ts'
import { isLater, JournalCopies } from './journal-copies.ts'
import { KnownRecords } from './known-records.ts'
import { userOf, type IsHere, type PendingWrite } from './pending-write.ts'
import { Reclaim } from './reclaim.ts'
import { Resolver } from './resolver.ts'
import { isFound, WriteThrough } from './write-through.ts'

export interface SharedStoreOptions {
  readonly engine: Engine
  readonly journal: Journal
  /**
   * What this node is called in its records: the name in force first, and others while it gets another one. None before a name is
   * its own, since until then whatever stands under the one that it wants is another machine's. `named` is to be called when they change.
   */
  readonly names: () => readonly string[]
  /** By which this node claims them (ipam/records/node-record.ts). Default: whoever has claimed one of them is taken for this node. */
  readonly claim?: NodeClaim
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds of CLOCK_MONOTONIC, of the present boot. */
  readonly monotonic: () => number
  readonly bootId: string
  /** Milliseconds that a start waits for the engine, before it goes on with what the journal has. */
  readonly startTimeout?: number
  /** Milliseconds between two tries of an engine that is away. */
  readonly retryAfter?: number
  /**
   * For a command that compares and copies records while no daemon runs: opening leaves the copies of the journal, which may be of
   * another engine, and what the engine has. resolve: but for pending writes. look: not even those, and what is read is as if they
   * had been made. write: they stay pending until a daemon starts, since they are about records that may only be on their way into
   * this engine, out of a backup of the one that had them.
   */
  readonly offline?: 'resolve' | 'look' | 'write'
  /** The engine went away, came back, or can be written to but not be heard. */
  readonly onStatus: (status: StoreStatus) => void
  /** While the engine was away, or had lost records, another node took what was bound here. */
  readonly onLost: (had: LeaseRecord) => void
  /** Why an address may not be taken although the engine is there; undefined where it may. */
  readonly refusesClaims?: () => Problem | undefined
  /**
   * Whether this machine is known to be the one that has its names, and none with a copy of its disk; `sure` is called when it is. Before,
   * nothing is written but claims of names. Default: it is.
   */
  readonly isSure?: () => boolean
  /** Whether the journal may be of an earlier day than what this node did: what it says is in use here others may have by now. */
  readonly isOlder?: boolean
  /** Whether sandboxes that live and are not on record are looked for, and `tookUp` is called then. Default: no. */
  readonly takesUp?: boolean
  /** What becomes of a lease whose pod has ended; without it, it cools down for a minute, or is kept. */
  readonly released?: (lease: LeaseRecord) => LeaseRecord
}

/** For a store that knows no pools: when a pod ended is unknown by then, and its address cools down for a minute. */
const standardCooldown: PoolBook = {
  pools: [],
  standard: { retention: 'release', cooldown: 60_000, preferFor: 60_000, strategy: 'lowest-free' },
}

const isShared = (write: Write): write is SharedWrite => write.kind !== 'attachment'

/**
 * The ledger of many nodes: an engine that they share, and a journal of this node's own.
 *
 * Leases, holders, reservations, pools and guards of quotas are in the engine, and written there by compare-and-swap on
 * the very version that a change was computed from. Attachments and the history are in the journal, since they are of use
 * to this node alone.
 *
 * Invariants:
 * - An ADD is in the journal as an intent before the engine hears of it, and as an attachment only after the engine has
 *   taken it. Whatever ends in between, the intent says what is to be taken back: an ADD that no caller was answered.
 *   What ends here is noted before, too, and then finished.
 * - While the engine is away only that changes which no other node can have (mayChangeAlone). The journal has it first;
 *   when the engine is back, it is written there, unless another node's later change stands there.
 * - The ledger hears of each record in the order of its versions, and never of one that a commit is under way for.
 * - From an engine that has lost records nothing new is taken before every node has reported what it holds
 *   (engine-losses.ts). What is bound on this node by its journal stays so meanwhile, whatever the engine says.
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
  readonly #contact: EngineContact
  readonly #known: KnownRecords
  readonly #copies: JournalCopies
  readonly #indeterminate: IndeterminateCommits
  readonly #losses: EngineLosses
  readonly #endings: Endings
  readonly #ended: EndedAttachments
  readonly #resolver: Resolver
  readonly #reclaim: Reclaim
  readonly #order: CommitOrder
  readonly #writeThrough: WriteThrough
  readonly #stopping = new AbortController()
  #adopt: ((news: StoreNews) => void) | undefined
  /** Resolves to the copies that the journal had. */
  #begun: Promise<readonly EngineRecord[]> | undefined
  #takenAtStart: readonly LeaseRecord[] = []
  /** The journal may be older than what this node did, and the engine has not been heard yet. */
  #isOlder: boolean
  /** Whether the ledger has been given all there is, so that news makes sense to it. */
  #loaded = false
  /** A list is being taken over, which is judged as a whole. */
  #listing = false
  #firstList: (() => void) | undefined

  constructor(options: SharedStoreOptions) {
    const { engine, journal, now, monotonic } = options
    this.#options = options
    this.#engine = engine
    this.#journal = journal
    this.#isOlder = options.isOlder ?? false
    const { names } = options
    const isOwn = (name: string): boolean => names().includes(name)
    const isChanging = (id: string): boolean => this.#order.isUnderWay(id) || this.#resolver.isResolving(id)
    const onStatus = (): void => {
      options.onStatus(this.#status())
    }
    const contact = (this.#contact = new EngineContact({ engine, now, monotonic }))
    const copies = (this.#copies = new JournalCopies(names))
    const indeterminate = (this.#indeterminate = new IndeterminateCommits(monotonic, options.bootId))
    const known = (this.#known = new KnownRecords({
      engine,
      isChanging,
      onContact: () => {
        contact.heard()
      },
      onChange: (name, text, before) => {
        const isReclaimed = text === null && !options.offline && this.#reclaim.removed(name, before)
        if (!isReclaimed) this.#hear(name, text)
      },
    }))
    const isHere: IsHere = (node, attachment) => isOwn(node) && this.#isHere(node, attachment)
    const endings = (this.#endings = new Endings({
      ...{ engine, known, isOwn, isHere },
      isOwnAlone: name => this.#losses.isOwnAlone(name),
    }))
    const losses = (this.#losses = new EngineLosses({
      ...{ engine, known, names, now },
      ...(options.claim && { claim: options.claim }),
      isOffline: options.offline !== undefined,
      takesUp: options.takesUp ?? false,
      note: notes => {
        void journal.commit([], [], notes).catch(() => undefined)
      },
      onLoss: reason => {
        this.#reclaim.lost(reason, [...known.values()])
      },
      onChange: () => {
        this.#onLossesChange()
      },
    }))
    const ended = (this.#ended = new EndedAttachments(monotonic, options.bootId))
    const parts = {
      ...{ engine, journal, known, copies, indeterminate, losses },
      ...{ contact, endings, ended, isOwn, isHere, now },
    }
    const resolver = (this.#resolver = new Resolver({
      ...parts,
      isReadOnly: options.offline === 'look',
      isSure: options.isSure ?? (() => true),
      retryAfter: options.retryAfter ?? 1000,
      signal: this.#stopping.signal,
      commitsEnded: () => this.#order.ended(),
      isLossNoted: () => this.#reclaim.isNoted(),
      onStatus,
      onOverruled: (write, text) => {
        this.#onOverruled(write, text)
      },
      onAmended: write => {
        this.#hear(write, write.want)
      },
    }))
    this.#reclaim = new Reclaim({
      ...{ ...parts, resolver, isChanging, onStatus },
      released: options.released ?? (lease => releasedLease(lease, { pools: standardCooldown, now: now() })),
      onPending: write => {
        this.#tell(write, write.want)
      },
    })
    this.#order = new CommitOrder({
      known,
      pending: id => resolver.get(id),
      obstacle: ids => resolver.obstacle(ids),
      assertOpen: () => {
        this.#assertOpen()
      },
    })
    this.#writeThrough = new WriteThrough({
      ...{ ...parts, resolver, names },
      refusesClaims: options.refusesClaims ?? (() => undefined),
      isOlder: () => this.#isOlder,
      onNode: (name, text) => {
        this.#hearOfNode(name, text)
      },
      onLacking: reason => {
        this.#reclaim.lost(reason, [...known.values()])
      },
    })
    this.file = journal.file && ownPart(journal.file)
    this.kind = engine.kind
    this.location = engine.location
    this.shared = this.#aspect()
  }

  #aspect(): SharedAspect {
    const [engine, journal, contact, ended] = [this.#engine, this.#journal, this.#contact, this.#ended]
    const losses = this.#losses
    return {
      follow: adopt => {
        this.#adopt = adopt
      },
      history: engine.history,
      status: () => this.#status(),
      isHeard: () => contact.hasListed,
      takenAtStart: () => this.#takenAtStart,
      lastContactAge: () => contact.age,
      named: () => this.#named(),
      isOwnName: name => losses.isOwn(name),
      sure: () => {
        this.#resolver.wake()
        if (this.#loaded && losses.count === 0 && losses.hasReported()) this.#forgetEndings()
      },
      hasEnded: key => ended.has(key) && !journal.mayHaveAttachment(key),
      ended: () => ended.keys(),
      haveAllTold: () => contact.hasListed && losses.haveAllTold(),
      tookUp: () => {
        losses.tookUp()
      },
      get ignores() {
        return engine.ignores.filter(kind => kind !== 'ending')
      },
    }
  }

  // ---- Starting

  async load(visit: (stored: StoredRecord) => void): Promise<void> {
    this.#assertOpen()
    this.#begun ??= this.#begin()
    const copies = await this.#begun
    await this.#journal.load(visit)
    // Up to here nothing that was heard has been judged; from here on it is, as nothing is waited for.
    if (!this.#loaded && !this.#options.offline) this.#judgeTaken(copies)
    if (!this.#options.offline) this.#takeBackLate()
    // A loss that an earlier run found, and did not make good.
    if (this.#losses.mustTell)
      for (const kind of ['lease', 'holder'] as const)
        for (const record of [...this.#known.of(kind)]) this.#reclaim.heard(record, record.text)
    for (const { kind, key, text } of this.#known.values())
      if (kind !== 'ending' && !this.#resolver.has(recordId({ kind, key }))) visit({ kind, key, text })
    for (const { kind, key, want } of this.#resolver.values())
      if (kind !== 'ending' && want !== null) visit({ kind, key, text: want })
    this.#loaded = true
  }

  /** Takes over what the engine has, or goes on with what the journal has when it does not answer in time. */
  async #begin(): Promise<readonly EngineRecord[]> {
    const copies = this.#readNotes()
    const knewEngine = this.#losses.knowsEngine
    await this.#firstContact(copies)
    const losses = this.#losses
    if (!this.#contact.isAway && !this.#options.offline) await this.#reclaim.missing(copies)
    if (this.#resolver.size > 0 || !losses.hasSaid(false)) this.#resolver.run()
    if (!this.#contact.isAway && !this.#options.offline && losses.count === 0 && losses.hasReported()) {
      // What such a journal does not have has ended; the engine may have gone back, which is not noticed yet.
      const mayBeNew = (attachment: string): boolean =>
        !knewEngine || this.#journal.mayHaveAttachment(attachment)
      const copied = this.#copies.listed(this.#known.values(), mayBeNew)
      await this.#journal.commit([], [], [...copied, losses.note()])
    }
    return copies
  }

  #judgeTaken(copies: readonly EngineRecord[]): void {
    // Of what is to be reported again it is judged when that is resolved.
    const settled = copies.filter(copy => !this.#resolver.has(recordId(copy)))
    this.#takenAtStart = takenSince(settled, this.#known, this.#endings.own())
    if (this.#losses.count === 0 && this.#losses.hasReported()) this.#forgetEndings()
  }

  /** Commits of an earlier run that came after all. */
  #takeBackLate(): void {
    const late = [...this.#indeterminate.names()]
      .filter(name => !this.#resolver.has(recordId(name)))
      .flatMap(name => this.#indeterminate.pendingAfter(name, this.#known.get(name)?.text ?? null) ?? [])
    this.#resolver.addNoted(late)
  }

  #readNotes(): readonly EngineRecord[] {
    const copies: EngineRecord[] = []
    const ended: { readonly key: string; readonly text: string }[] = []
    this.#journal.loadNotes(({ kind, key, text }) => {
      if (kind === 'copy') copies.push(this.#copies.found(key, text))
      else if (kind === 'engine') this.#losses.found(text)
      else if (kind === 'owed') {
        if (this.#options.offline !== 'write') this.#resolver.keep([JSON.parse(text) as PendingWrite])
      } else if (kind === 'ended') ended.push({ key, text })
      else this.#indeterminate.found(text)
    })
    this.#ended.found(ended)
    if (this.#losses.knowsEngine) return copies
    this.#copies.forgetRevisions()
    return copies.map(copy => ({ ...copy, revision: 0 }))
  }

  /** Resolves when the engine has listed what it has, or the time for it is over. */
  async #firstContact(copies: readonly EngineRecord[]): Promise<void> {
    const listed = new Promise<void>(resolve => (this.#firstList = resolve))
    this.#engine.start({
      replace: (records, position) => {
        this.#contact.heard()
        this.#listAll(records, position)
        this.#firstList?.()
      },
      broke: reason => {
        this.#losses.broke(reason)
        this.#contact.hasListed = false
        this.#resolver.goAway(reason)
      },
      put: record => {
        this.#losses.passed(record.revision)
        this.#known.hear(record)
      },
      remove: (kind, key) => {
        this.#known.hear({ kind, key })
      },
      trouble: reason => {
        this.#contact.setTrouble(reason)
        if (this.#loaded && !this.#contact.isAway) this.#options.onStatus(this.#status())
      },
    })
    const { startTimeout = 10_000 } = this.#options
    const late = pause(startTimeout, 'late', { signal: this.#stopping.signal, ref: false }).catch(
      () => 'late',
    )
    if ((await Promise.race([listed, late])) !== 'late') return
    // What the ledger is given now is compared with what the engine has as soon as that is heard.
    for (const copy of copies) this.#known.set(copy, copy.text, 0)
    this.#resolver.goAway(this.#contact.trouble ?? `no answer within ${startTimeout} ms`)
  }

  /** What stands under a new name is copied, and told again where this node has to. */
  async #named(): Promise<void> {
    const isFree = (record: EngineRecord): boolean => {
      const id = recordId(record)
      return !this.#resolver.has(id) && !this.#order.isUnderWay(id)
    }
    await this.#journal.commit([], [], this.#copies.named([...this.#known.values()].filter(isFree)))
    this.#losses.named()
  }

  // ---- Reading

  async read<K extends RecordKind>(kind: K, key: string): Promise<RecordTypes[K] | undefined> {
    this.#assertOpen()
    if (kind === 'attachment') return await this.#journal.read(kind, key)
    const text = await this.#readShared(kind, key)
    return text === null ? undefined : (JSON.parse(text) as RecordTypes[K])
  }

  async #readShared(kind: SharedKind, key: string): Promise<string | null> {
    const id = recordId({ kind, key })
    const pending = this.#resolver.get(id)
    if (pending) return pending.want
    if (!this.#contact.isAway) {
      try {
        await this.#known.ask({ kind, key })
        if (isGuard(kind)) await this.#known.passedOn('lease')
      } catch (error) {
        this.#failedWith(error)
      }
    }
    const text = this.#known.get({ kind, key })?.text ?? null
    // What was heard while a commit was under way has not been judged yet.
    const isFree = this.#loaded && !this.#resolver.has(id) && !this.#order.isUnderWay(id)
    const unresolved = isFree ? this.#takeBackIfLate({ kind, key }, text) : this.#resolver.get(id)
    return unresolved ? unresolved.want : text
  }

  // ---- Committing

  async commit(change: Change, events: readonly HistoryEvent[] = []): Promise<void> {
    this.#assertOpen()
    const shared = change.filter(isShared).filter(({ kind }) => !this.#engine.ignores.includes(kind))
    const local = change.filter(write => !isShared(write))
    if (shared.length === 0) {
      await this.#journal.commit(local, events, this.#ended.after(local))
      return
    }
    const losses = this.#losses.count
    const couldClaim = this.#losses.mayClaim(isFound(shared))
    await this.#order.inOrder(shared, {
      work: writes => this.#writeThrough.carryOut({ writes, local, events, losses, couldClaim }),
      onFailure: () => {
        if (losses !== this.#losses.count) this.#reclaim.afterFailure(shared)
      },
    })
  }

  // ---- What is heard

  /** Nothing is resolved before it is judged. */
  #listAll(records: readonly EngineRecord[], position: EnginePosition): void {
    const isFree = ([id]: readonly [string, number]): boolean =>
      !this.#order.isUnderWay(id) && !this.#resolver.isResolving(id) && !this.#resolver.has(id)
    const bound = (): ReadonlyMap<string, number> =>
      new Map([...this.#copies.leases()].filter(copy => isFree(copy) && this.#isBoundHere(copy[0])))
    const reason = this.#losses.judge(records, position, bound)
    // Before the ledger hears of them, and asks.
    this.#contact.hasListed = true
    this.#isOlder = false
    if (reason !== undefined) this.#reclaim.lost(reason, records)
    this.#listing = true
    this.#known.replace(records, reason !== undefined)
    this.#listing = false
    this.#losses.heardAll(bound().size > 0)
  }

  /** Whether a sandbox under a name of this node, if there is one, is on record here, has ended here, or can be nowhere else. */
  #isHere(node: string, attachment: AttachmentKey | null): boolean {
    if (attachment === null || this.#losses.isOwnAlone(node)) return true
    const key = attachmentKey(attachment)
    return this.#journal.mayHaveAttachment(key) || this.#ended.has(key)
  }

  /** Whether a lease is bound here by the journal; one of another machine that had the name before is for that one to end. */
  #isBoundHere(id: string): boolean {
    const attachment = this.#copies.attachmentOf(id)
    return attachment !== undefined && this.#journal.mayHaveAttachment(attachment)
  }

  /**
   * A lease or holder that is bound here has gone: who ended it has left a trace, which is heard just after. The leases of a sandbox are
   * looked at before its holder is forgotten, which goes with them.
   */
  #hearOfMissing(name: SharedRecordName): void {
    setImmediate(() => {
      const id = recordId(name)
      const isOver =
        this.#known.get(name) !== undefined || this.#order.isUnderWay(id) || this.#resolver.has(id)
      if (isOver || this.#stopping.signal.aborted) return
      const lost = this.#lostWith(id)
      if (lost === undefined) this.#hear(name, null, true)
      else {
        const reason = `it has no ${lost} any more, which is bound here and was never released`
        this.#reclaim.lost(reason, [...this.#known.values()])
      }
    })
  }

  /** A lease of the sandbox that has this record, which the engine has lost. */
  #lostWith(id: string): string | undefined {
    const sandbox = this.#copies.attachmentOf(id)
    if (!this.#isBoundHere(id)) return undefined
    const ended = this.#endings.own()
    const isThere = (lease: string): boolean =>
      this.#known.hasId(lease) || this.#order.isUnderWay(lease) || this.#resolver.has(lease)
    for (const [lease] of this.#copies.leases())
      if (this.#copies.attachmentOf(lease) === sandbox && !isThere(lease) && !ended.has(lease)) return lease
    return undefined
  }

  /** @param isExplained it has ended, by what is known */
  #hear({ kind, key }: SharedRecordName, text: string | null, isExplained = false): void {
    // A list is judged as a whole.
    if (kind === 'node' && !this.#listing) this.#hearOfNode(key, text)
    if (kind === 'ending') {
      if (this.#loaded && text !== null)
        setImmediate(() => {
          this.#forgetEndings()
        })
      return
    }
    const before = this.#heardBefore(kind, text)
    if (before && this.#loaded && this.#known.holdsBack(before)) {
      void this.#hearAfter(before, { kind, key })
      return
    }
    const id = recordId({ kind, key })
    if (this.#resolver.isWaiting(id)) this.#resolver.wake()
    // What is pending is resolved first; until then it is what counts here. A commit under way finds out by itself.
    if (!this.#loaded || this.#resolver.has(id) || this.#order.isUnderWay(id)) return
    const isUse = kind === 'lease' || kind === 'holder'
    const keepsTraces = isUse && !this.#options.offline && !this.#engine.ignores.includes('ending')
    if (keepsTraces && text === null && !isExplained && !this.#listing && this.#isBoundHere(id)) {
      this.#hearOfMissing({ kind, key })
      return
    }
    const late =
      this.#takeBackIfLate({ kind, key }, text) ??
      (this.#losses.count > 0 ? this.#reclaim.heard({ kind, key }, text) : undefined)
    if (late) {
      // The ledger may still have what another node had in between, if news of its end was passed over.
      this.#tell({ kind, key }, late.want)
      return
    }
    const revision = this.#known.get({ kind, key })?.revision ?? null
    this.#tell({ kind, key }, text, kind === 'lease' && this.#isLater(id, revision))
    const notes = this.#copies.heard({ kind, key }, text, revision)
    // An outdated copy is compared with the engine before anything comes of it.
    if (notes.length > 0) void this.#journal.commit([], [], notes).catch(() => undefined)
  }

  /**
   * News of which kind have to be heard before this one. Behind a guard stand the leases that were written with it: whoever goes by it has to
   * have heard of those. After a loss it is judged whether what is in use under this node's name is of a sandbox that has ended: another
   * machine may have claimed the name just before.
   */
  #heardBefore(kind: SharedKind, text: string | null): SharedKind | undefined {
    if (isGuard(kind)) return 'lease'
    const user = this.#losses.count > 0 && text !== null ? userOf(kind, text) : undefined
    return user !== undefined && this.#losses.isOwn(user) ? 'node' : undefined
  }

  async #hearAfter(kind: SharedKind, name: SharedRecordName): Promise<void> {
    await this.#known.passedOn(kind)
    this.#hear(name, this.#known.get(name)?.text ?? null)
  }

  /** Not before it has loaded all, which gives it the newest there is. */
  #tell({ kind, key }: SharedRecordName, text: string | null, isLater = false): void {
    if (this.#loaded && kind !== 'ending') this.#adopt?.({ kind, key, text, isLater })
  }

  /** Whether what has become of a lease is known to be later than what was bound here. `revision` null: it is gone. */
  #isLater(id: string, revision: number | null): boolean {
    if (!this.#copies.hasId(id)) return false
    const cameAfter = (its: number): boolean => this.#copies.isOlder(id, its)
    return revision === null ? this.#endings.hasEnded(id, cameAfter) : cameAfter(revision)
  }

  /** A record that turns out to be a commit of this node's which came late is pending from here on. */
  #takeBackIfLate(name: SharedRecordName, text: string | null): PendingWrite | undefined {
    const late = this.#indeterminate.pendingAfter(name, text)
    if (late) this.#resolver.addNoted([late])
    return late
  }

  #hearOfNode(name: string, text: string | null): void {
    if (text === null) this.#losses.misses(name)
    else this.#losses.heardOf(text)
  }

  /** Another node's change stands; a commit that waits for its turn finds that out by itself. */
  #onOverruled({ kind, key, want }: PendingWrite, text: string | null): void {
    this.#hear({ kind, key }, text)
    if (kind !== 'lease' || want === null) return
    const had = JSON.parse(want) as LeaseRecord
    if (!this.#copies.isOfUseHere(kind, had)) return
    // Of a record that has gone the ledger hears a turn later, unless it was lost and is written again.
    setImmediate(() => {
      if (!this.#resolver.has(recordId({ kind, key }))) this.#options.onLost(had)
    })
  }

  #onLossesChange(): void {
    // What waits for a node may go on.
    this.#resolver.wake()
    if (this.#resolver.hasWaiting || !this.#losses.hasSaid(false)) this.#resolver.run()
    if (this.#loaded) this.#options.onStatus(this.#status())
  }

  #forgetEndings(): void {
    if (this.#options.isSure?.() === false) return
    this.#endings.forget(id => this.#copies.hasId(id))
  }

  #status(): StoreStatus {
    const { lacks } = this.#engine
    return {
      ...this.#contact.status(this.#losses.status()),
      owed: this.#resolver.size,
      ...(lacks !== undefined && { lacks }),
    }
  }

  #failedWith(error: unknown): void {
    if (!(error instanceof EngineAway)) throw error
    this.#resolver.goAway(error.message)
  }

  // ---- The rest of the contract

  async history(query: HistoryQuery): Promise<readonly HistoryEntry[]> {
    return await this.#journal.history(query)
  }

  async historyBegins(): Promise<HistoryBegin | undefined> {
    return await this.#journal.historyBegins()
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
    if (this.#contact.isAway) return
    try {
      await this.#engine.probe()
    } catch (error) {
      this.#failedWith(error)
    }
  }

  async close(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    await this.#order.ended()
    this.#stopping.abort()
    await this.#resolver.ended()
    // Up to where it was heard, for the next start.
    if (this.#contact.hasListed && !this.#options.offline)
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
  copies: readonly EngineRecord[],
  known: KnownRecords,
  ended: ReadonlyMap<string, number>,
): readonly LeaseRecord[] {
  return copies.flatMap(copy => {
    if (copy.kind !== 'lease') return []
    const present = known.get(copy)
    if (present?.text === copy.text) return []
    const had = JSON.parse(copy.text) as LeaseRecord
    if (!present) return (ended.get(recordId(copy)) ?? -1) >= had.generation ? [had] : []
    const has = JSON.parse(present.text) as LeaseRecord
    return isTakenAway(had, has, isLater(present.revision, copy.revision)) ? [had] : []
  })
}

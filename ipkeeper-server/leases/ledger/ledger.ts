import { Problem } from '../../../shared/problem/problem.ts'
import { isSoundRecord } from '../../ipam/plan/record-fault.ts'
import { historyEvent, type EndedBy, type HistoryEntry } from '../../ipam/records/history-entry.ts'
import {
  attachmentKey,
  holderKey,
  isTakenAway,
  leaseKey,
  sameAttachment,
  type AttachmentKey,
  type Change,
  type Holder,
  type HolderRecord,
  type LeaseRecord,
  type NodeRecord,
  type RecordKind,
  type RecordTypes,
} from '../../ipam/records/records.ts'
import { formersGoneSince } from '../../ipam/records/node-record.ts'
import { isAhead } from '../../ipam/records/times.ts'
import {
  StoreConflict,
  type FileAspect,
  type HistoryBegin,
  type HistoryQuery,
  type HistoryRule,
  type LeaseStore,
  type Rescued,
  type StoredRecord,
  type StoreNews,
  type StoreStatus,
} from '../../store/lease-store.ts'
import { AnnouncedTimes } from './announced-times.ts'
import { IndexedRecords } from './indexed-records.ts'
import { LedgerSubscribers, type LedgerListener } from './ledger-events.ts'
import { LedgerReader } from './ledger-reader.ts'
import { PendingCommits, type CommitUnderWay, type FormerRecord } from './pending-commits.ts'
import type { RecordName } from './record-table.ts'
import { StoreReadiness } from './store-readiness.ts'

type AnyRecord = RecordTypes[RecordKind]

/**
 * All records in memory, indexed for planning, in front of the store.
 *
 * A commit shows in the ledger at once and goes to the store in the same order, so that the next plan already sees it;
 * its promise resolves when it is durable. When the store refuses it, the touched records are read again. What was planned
 * on a refused change goes with it at once: the store will refuse that in its turn, because every write names the generation
 * it was computed from, and nobody is to plan with it until then.
 */
export class Ledger extends LedgerReader {
  readonly #store: LeaseStore
  readonly #now: () => number
  readonly #onUnsound: (kind: RecordKind, key: string) => void
  readonly #records: IndexedRecords
  readonly #pending = new PendingCommits()
  readonly #times = new AnnouncedTimes()
  readonly #subscribers = new LedgerSubscribers()
  readonly #readiness: StoreReadiness
  #isSaved = false

  private constructor(
    records: IndexedRecords,
    store: LeaseStore,
    now: () => number,
    onUnsound: (kind: RecordKind, key: string) => void,
  ) {
    super(records)
    this.#records = records
    this.#store = store
    this.#readiness = new StoreReadiness(store)
    this.#now = now
    this.#onUnsound = onUnsound
  }

  /**
   * Reads the whole store. `now` dates the entries of the history: milliseconds since the epoch. `node` is this one, for
   * its blocks in a store that nodes share. `onUnsound` is called with a record there that no ipkeeper wrote so.
   */
  static async open(
    store: LeaseStore,
    now: () => number = Date.now,
    node = '',
    onUnsound: (kind: RecordKind, key: string) => void = () => undefined,
  ): Promise<Ledger> {
    const records = new IndexedRecords(store.shared !== undefined, node)
    const ledger = new Ledger(records, store, now, onUnsound)
    store.shared?.follow(news => {
      ledger.#adopt(news)
    })
    const moment = now()
    const ahead: LeaseRecord[] = []
    await store.load(stored => {
      const lease = ledger.#load(stored)
      if (lease && isAhead(lease, moment)) ahead.push(lease)
    })
    // In the order in which they began to cool down, which their moments no longer tell.
    for (const lease of ahead.sort((a, b) => a.since - b.since))
      ledger.#set({ kind: 'lease', key: leaseKey(lease) }, lease)
    return ledger
  }

  /** Calls the listener from now on; gives what ends that. */
  subscribe(listener: LedgerListener): () => void {
    return this.#subscribers.add(listener)
  }

  /** This node is called so from here on. */
  callNode(name: string): void {
    this.#records.node = name
  }

  /** To be called when the names under which there may be records of this node have changed. */
  async named(): Promise<void> {
    await this.#store.shared?.named()
  }

  /** To be called when it is known by now that no other machine has this node's names, and none with a copy of its disk. */
  sure(): void {
    this.#store.shared?.sure()
  }

  /** Whether a name is this node's, as far as it has heard: no other machine has claimed it since. */
  isOwnName(name: string): boolean {
    return this.#store.shared?.isOwnName(name) !== false
  }

  // ---- Reading what the store has

  /** Gives a lease that is worked with. */
  #load({ kind, key, text }: StoredRecord): LeaseRecord | undefined {
    if (kind === 'attachment') {
      this.#records.loadAttachment(key, text)
      return undefined
    }
    const table = this.#records.tables[kind]
    // Where nodes share the store it keeps the text anyhow, and most records are of other nodes. One to be left out is not put.
    const record = this.isShared ? this.#readText(kind, key, text) : undefined
    if (this.isShared && !record) return undefined
    table.setText(key, text)
    if (kind === 'holder') return undefined
    const loaded = record ?? table.get(key)
    if (!record && !isSoundRecord(kind, key, loaded))
      throw new Problem(
        'IPK_STORE_DAMAGED',
        `store ${this.#store.location}: ${kind} ${key} is not as ipkeeper writes it`,
      )
    if (loaded) this.#records.load(kind, key, loaded)
    return kind === 'lease' ? (loaded as LeaseRecord) : undefined
  }

  /** undefined for a record that cannot be worked with: it is left out. */
  #readText(kind: RecordKind, key: string, text: string): AnyRecord | undefined {
    const record = JSON.parse(text) as AnyRecord
    return this.#isSound({ kind, key }, record) ? record : undefined
  }

  #isSound({ kind, key }: RecordName, record: AnyRecord): boolean {
    if (!this.isShared || kind === 'attachment' || isSoundRecord(kind, key, record)) return true
    this.#onUnsound(kind, key)
    this.#records.leaveOut({ kind, key })
    return false
  }

  /**
   * The record as the store has it now; while the engine is away (`storeStatus`), as it was last heard. Rejects as `read` of a
   * store does.
   */
  async readNode(name: string): Promise<NodeRecord | undefined> {
    const node = { kind: 'node', key: name } as const
    const read = await this.#store.read('node', name)
    const record = read && this.#isSound(node, read) ? read : undefined
    // What was read does not come as news afterwards.
    if (!this.#pending.isUnderWay(node)) this.#set(node, record)
    return record
  }

  /** Hands over every record that is durable, as the store has it. */
  async load(visit: (stored: StoredRecord) => void): Promise<void> {
    await this.#store.load(visit)
  }

  /** Entries of the history, which is in the store only, that are durable; the newest first. */
  async history(query: HistoryQuery): Promise<readonly HistoryEntry[]> {
    return await this.#store.history(query)
  }

  /** The oldest entry from which on none is missing; undefined: there is none. */
  async historyBegins(): Promise<HistoryBegin | undefined> {
    return await this.#store.historyBegins()
  }

  /** Forgets what the rule lets go, in small steps; resolves to the number of entries. */
  async pruneHistory(rule: HistoryRule): Promise<number> {
    return await this.#store.pruneHistory(rule)
  }

  // ---- Applying

  /** Takes over what another node has changed. What plans of this node do not ask for stays text. */
  #adopt({ kind, key, text, isLater }: StoreNews): void {
    const record = text === null ? undefined : this.#readText(kind, key, text)
    const { before, kept } = this.#set({ kind, key }, record)
    if (text === null || record) this.#records.leaveIn({ kind, key })
    if (kind === 'lease' && record) this.#publishStray(key)
    if (text !== null && record && kept === record) this.#records.tables[kind].setText(key, text)
    if (kind === 'pool') this.#subscribers.publish('poolChangedElsewhere')
    if (kind === 'lease' && before) {
      const [had, has] = [before as LeaseRecord, record as LeaseRecord | undefined]
      const isGone = text === null && isLater === true && had.attachment !== null
      // A machine with a copy of this one's disk may have given it a name of its own before it ended it.
      const isOurs =
        had.node === this.#records.node || (had.attachment !== null && this.hasAttachment(had.attachment))
      if (isOurs && (isGone || isTakenAway(had, has, isLater))) this.#subscribers.publish('takenAway', had)
    }
  }

  #publishStray(key: string): void {
    const { node, state, attachment } = this.#records.tables.lease.get(key) ?? {}
    if (state !== 'bound' || !attachment || this.hasAttachment(attachment)) return
    // What has ended here has, whatever this node was called then, and whoever is called so by now.
    if (node === this.#records.node || this.hasEnded(attachment))
      this.#subscribers.publish('stray', attachment)
  }

  /** Attachments that are over, and still have leases. Those that have some again later are published. */
  *strays(): Iterable<AttachmentKey> {
    for (const key of this.#store.shared?.ended() ?? [])
      if (this.leasesOf(key).length > 0 && this.hasEnded(key)) yield key
    // Where no other machine had the name, which is nearly always, no lease has to be looked at.
    if (this.#formersGoneSince() === undefined) return
    for (const lease of this.leasesOn(this.#records.node))
      if (lease.attachment && this.#wasOfTheGone(lease)) yield lease.attachment
  }

  /**
   * Whether an attachment is known to be no more that this node has no record of: it has ended here, or was another machine's that had this
   * node's name, and was declared gone for good.
   */
  isOver(key: AttachmentKey): boolean {
    return this.hasEnded(key) || this.leasesOf(key).some(lease => this.#wasOfTheGone(lease))
  }

  #wasOfTheGone({ node, attachment, since }: LeaseRecord): boolean {
    if (node !== this.#records.node || !attachment || this.hasAttachment(attachment)) return false
    return since <= (this.#formersGoneSince() ?? -1)
  }

  /** undefined also where another machine has this node's name now: what is in use under it is that one's. */
  #formersGoneSince(): number | undefined {
    const { node } = this.#records
    const record = this.isOwnName(node) ? this.node(node) : undefined
    return record && formersGoneSince(record)
  }

  /** Takes a record over as it was written. Gives what was there before, and what is kept: a lease perhaps with other times. */
  #set(
    { kind, key }: RecordName,
    record: AnyRecord | undefined,
  ): { before: AnyRecord | undefined; kept: AnyRecord | undefined } {
    const kept = kind === 'lease' && record ? this.#inOurTimes(key, record as LeaseRecord) : record
    if (kind === 'lease' && !kept) this.#times.restore(key, undefined)
    return { before: this.#put({ kind, key }, kept), kept }
  }

  #inOurTimes(key: string, written: LeaseRecord): LeaseRecord {
    // It may be now that the clock is found to have been set, which moves what is there.
    const now = written.until === null ? 0 : this.#now()
    const present = this.#times.of(key) === undefined ? undefined : this.#records.tables.lease.peek(key)
    return this.#times.ours(key, written, present, now)
  }

  /** The one place where records change after the start. Gives what was there before. */
  #put({ kind, key }: RecordName, after: AnyRecord | undefined): AnyRecord | undefined {
    const before = this.#records.put(kind, key, after)
    this.#subscribers.publishChange(kind, before, after)
    return before
  }

  /**
   * Lets kept addresses go whose time is over, so that dynamic choice sees them; returns their leases, whose records are
   * still to be deleted. Also those of earlier calls that are not deleted yet; remembered ones stay.
   */
  expire(now: number): readonly LeaseRecord[] {
    return this.#records.expire(now)
  }

  /**
   * The clock was set by so many milliseconds. What is kept or cools down goes on for as long as it would have. In memory alone:
   * tasks/write-times.ts has it written to the store.
   */
  shiftTimes(by: number): void {
    const { tables, leases, node } = this.#records
    const keys = leases.takeAllThatEnd()
    const now = this.#now()
    for (const key of keys) {
      const lease = tables.lease.peek(key)
      const isOwn = !this.isShared || lease?.node === node
      if (lease) this.#put({ kind: 'lease', key }, this.#times.shift(key, lease, by, isOwn, now))
    }
  }

  /** Leases that are kept or cool down for as long as they were to, though the store has other times of them. */
  *retimed(): Iterable<LeaseRecord> {
    for (const key of [...this.#times.keys()]) {
      const lease = this.#records.tables.lease.peek(key)
      if (lease) yield lease
    }
  }

  // ---- Committing

  /**
   * Applies a change and resolves when it is durable, with what it means for the history. Rejects with IPK_STORE_CONFLICT (plan
   * again after `settle`) or IPK_STORE_FAILED; then nothing of it is in the store, or is read again once that is known.
   *
   * @param by what ends sandboxes with this change, for the history
   */
  async commit(change: Change, by?: EndedBy): Promise<void> {
    if (change.length === 0) return
    const { tables } = this.#records
    for (const { kind, key, expect } of change)
      if ((tables[kind].peek(key)?.generation ?? null) !== expect)
        throw conflict(new StoreConflict(kind, key))
    const now = this.#now()
    const events = change.flatMap(write => {
      const before = write.kind === 'lease' ? tables.lease.peek(write.key) : undefined
      return historyEvent(write, before, now, by) ?? []
    })
    const commit = this.#pending.begin(change, name => this.#present(name))
    for (const write of change) this.#set(write, write.record ?? undefined)
    const answered = this.#store.commit(change, events).then(
      async () => {
        if (events.length > 0) this.#subscribers.publish('recorded')
        if (!this.#pending.confirm(commit)) await this.settle().catch(() => undefined)
      },
      (error: unknown) => {
        this.#takeBack(commit)
        throw error
      },
    )
    try {
      await Promise.race([answered, commit.doomed])
    } catch (error) {
      this.#readiness.refused(error)
      // A store that cannot be read either leaves the records indeterminate until the next plan asks.
      await this.settle().catch(() => undefined)
      throw error instanceof StoreConflict ? conflict(error) : error
    }
    this.#readiness.accepted()
  }

  #present({ kind, key }: RecordName): FormerRecord {
    const record = this.#records.tables[kind].peek(key) ?? null
    return { record, times: kind === 'lease' ? this.#times.of(key) : undefined }
  }

  /** After the store has refused a change. */
  #takeBack(commit: CommitUnderWay): void {
    for (const { kind, key, record, times } of this.#pending.refuse(commit)) {
      this.#put({ kind, key }, record ?? undefined)
      if (kind === 'lease') this.#times.restore(key, times)
    }
  }

  /**
   * Reads again what a refused commit left indeterminate; to be awaited before a plan is made.
   *
   * @param holder whose addresses are to be known: of what other nodes write, news of one record may come before that of
   *   another, and a pod whose address is not known would get a second one
   */
  async settle(holder?: Holder): Promise<void> {
    await this.#readIndeterminate()
    if (!holder || !this.isShared) return
    const record = this.holder(holder)
    for (const lease of record?.leases ?? [])
      if (record && !isLeaseOf(record, this.lease(lease)))
        this.#pending.doubt({ kind: 'lease', key: leaseKey(lease) })
    await this.#readIndeterminate()
  }

  async #readIndeterminate(): Promise<void> {
    for (const name of this.#pending.indeterminate()) {
      if (this.#pending.isUnderWay(name)) continue
      const record = await this.#readOrSkip(name)
      if (record === 'unreadable' || !this.#pending.resolve(name)) continue
      this.#set(name, record)
      this.#records.leaveIn(name)
    }
  }

  /**
   * A record that an engine has and cannot hand over, as one of a newer ipkeeper, stays indeterminate, and so does one that cannot
   * be worked with: what has nothing to do with it goes on, and its address is given to no other pod.
   */
  async #readOrSkip(name: RecordName): Promise<AnyRecord | undefined | 'unreadable'> {
    try {
      const record = await this.#store.read(name.kind, name.key)
      return record && !this.#isSound(name, record) ? 'unreadable' : record
    } catch (error) {
      if (!this.isShared || !(error instanceof Problem)) throw error
      if (!this.#pending.isUnderWay(name)) this.#records.leaveOut(name)
      return 'unreadable'
    }
  }

  // ---- The store

  /**
   * Resolves when the store takes changes; nothing is written while all is well.
   *
   * @param now milliseconds of a clock that is never set
   * @throws what the store said last: IPK_STORE_FAILED; IPK_STORE_LOST or IPK_STORE_DAMAGED of its file
   */
  async checkStore(now: number): Promise<void> {
    await this.#readiness.check(now, () => this.settle())
  }

  /** Whether the store keeps records of a kind at present. */
  keeps(kind: RecordKind): boolean {
    return this.#store.shared?.ignores.includes(kind) !== true
  }

  /** Milliseconds since the engine last answered; undefined where one daemon has the store to itself. */
  silence(): number | undefined {
    return this.#store.shared?.lastContactAge()
  }

  /**
   * Whether all records that there are were heard since the start. Before, only what this node's journal has is here, and
   * what is not proves nothing. Always where one daemon has the store to itself.
   */
  isHeard(): boolean {
    return this.#store.shared?.isHeard() ?? true
  }

  /** @throws Problem IPK_STORE_AWAY while it is not known what other nodes have */
  expectHeard(): void {
    if (!this.isHeard())
      throw new Problem('IPK_STORE_AWAY', 'this daemon does not know yet which addresses other nodes have', {
        details: this.storeStatus()?.reason ?? '',
      })
  }

  /** What sandboxes of this node had when a daemon was last here, and was taken away by other nodes since. */
  takenAtStart(): readonly LeaseRecord[] {
    return this.#store.shared?.takenAtStart() ?? []
  }

  /** Whether an attachment is known to have ended on this node, where nodes share the store. */
  hasEnded(key: AttachmentKey): boolean {
    return this.#store.shared?.hasEnded(attachmentKey(key)) === true
  }

  /** Of a store that nodes share: see SharedAspect. */
  haveAllTold(): boolean {
    return this.#store.shared?.haveAllTold() ?? true
  }

  /** Of a store that nodes share: see SharedAspect. */
  tookUp(): void {
    this.#store.shared?.tookUp()
  }

  /** How it stands with the store; undefined where one daemon has it to itself. */
  storeStatus(): StoreStatus | undefined {
    return this.#store.shared?.status()
  }

  /** Of the store; undefined where nothing of it is in a file of this node. */
  get file(): FileAspect | undefined {
    return this.#store.file
  }

  /** Whether all of it is in a file for the next daemon, since this one cannot go on with it. */
  get isSaved(): boolean {
    return this.#isSaved
  }

  /**
   * Writes all of it out of memory to a new file, with which the store goes on.
   *
   * @param how "beside": what stands under the store's name is left as it is
   */
  async rescue(how: 'in place' | 'beside' = 'in place'): Promise<Rescued> {
    const { file } = this.#store
    if (!file)
      throw new Problem('IPK_UNSUPPORTED', `store ${this.#store.location} has no file`, {
        hint: 'a copy of the ledger is written by: ipkeeperctl backup FILE',
      })
    const records = [...this.#pending.durableRecords(this.#records.tables)]
    const rescued = how === 'beside' ? await file.saveBeside(records) : await file.rescue(records)
    this.#isSaved = !rescued.inUse
    if (rescued.inUse) {
      this.#readiness.accepted()
      this.#subscribers.publish('servingAgain')
    }
    return rescued
  }
}

/** Whether a lease is as the record of its holder says. */
function isLeaseOf({ holder, attachment }: HolderRecord, lease: LeaseRecord | undefined): boolean {
  if (!lease || holderKey(lease.holder) !== holderKey(holder)) return false
  return attachment ? sameAttachment(lease.attachment, attachment) : lease.state === 'held'
}

function conflict(cause: StoreConflict): Problem {
  return new Problem('IPK_STORE_CONFLICT', cause.message, { cause })
}

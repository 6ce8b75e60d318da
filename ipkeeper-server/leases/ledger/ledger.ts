import { parseAddress, type Address, type Family } from '../../../shared/net/address.ts'
import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import type { AddressBook } from '../../ipam/pools/address-book.ts'
import { attachmentByLease } from '../../ipam/records/new-records.ts'
import { historyEvent, type HistoryEntry } from '../../ipam/records/history-entry.ts'
import { IntervalSet } from '../../ipam/pools/interval-set.ts'
import type { Interval, RangeSet } from '../../ipam/pools/pool.ts'
import { isAhead } from '../../ipam/records/times.ts'
import { isSoundRecord } from '../../ipam/plan/record-fault.ts'
import {
  isTakenAway,
  attachmentKey,
  holderKey,
  isOver,
  leaseKey,
  macGuardKey,
  networkOfAttachment,
  quotaKey,
  recordKinds,
  sameAttachment,
  type AttachmentKey,
  type AttachmentRecord,
  type Change,
  type Holder,
  type HolderRecord,
  type LeaseKey,
  type LeaseOutline,
  type LeaseRecord,
  type MacRecord,
  type NodeRecord,
  type PoolRecord,
  type QuotaRecord,
  type RecordKind,
  type RecordTypes,
  type ReservationRecord,
  type Workload,
  type Write,
} from '../../ipam/records/records.ts'
import { chooseInBlocks, inOrderOf } from '../../ipam/pools/block-affinity.ts'
import {
  StoreConflict,
  type FileAspect,
  type HistoryQuery,
  type HistoryRule,
  type LeaseStore,
  type Rescued,
  type StoredRecord,
  type StoreNews,
  type StoreStatus,
} from '../../store/lease-store.ts'
import { retains } from '../../ipam/records/retention.ts'
import { bearsGeneratedName, isKnown } from '../../ipam/records/workload.ts'
import { ExpiryQueue } from './expiry-queue.ts'
import { KeyIndex } from './key-index.ts'
import { LedgerSubscribers, type ChangedRecord, type LedgerListener } from './ledger-events.ts'
import { LateOwn } from './recently-released.ts'
import { LeaseOutlines, outlineOf } from './lease-outlines.ts'
import { RecordTable } from './record-table.ts'
import { RestingLeases } from './cooling-leases.ts'
import { StripeOwners } from './block-owners.ts'
import { ToldTimes, type Told } from './announced-times.ts'

/** Milliseconds between two tries of a store that refuses changes. */
const probePause = 5_000

type Tables = { readonly [K in RecordKind]: RecordTable<RecordTypes[K]> }

const podName = (namespace: string, name: string): string => JSON.stringify([namespace, name])

const inNamespace = (pool: string, namespace: string, family: Family): string =>
  JSON.stringify([pool, namespace, family])

/** Where an address counts for its namespace; undefined where it has none. */
const counterOf = ({ pool, holder, address }: LeaseRecord): string | undefined =>
  holder.kind === 'pod' ? inNamespace(pool, holder.namespace, address.includes(':') ? 6 : 4) : undefined

function keep(index: KeyIndex, property: string, key: string, present: boolean): void {
  if (present) index.add(property, key)
  else index.delete(property, key)
}

/**
 * All records in memory, indexed for planning, in front of the store.
 *
 * A commit shows in the ledger at once and goes to the store in the same order, so that the next plan already sees it;
 * its promise resolves when it is durable. When the store refuses it, the touched records are read again. A plan that was
 * made from a refused change conflicts in its turn, because every write names the generation it was computed from.
 */
export class Ledger implements AddressBook {
  readonly #store: LeaseStore
  readonly #now: () => number
  #node: string
  readonly #onUnsound: (kind: RecordKind, key: string) => void
  /** Whether other nodes have the same leases. */
  readonly isShared: boolean
  readonly #tables: Tables = {
    lease: new RecordTable(),
    holder: new RecordTable(),
    attachment: new RecordTable(),
    reservation: new RecordTable(),
    pool: new RecordTable(),
    quota: new RecordTable(),
    mac: new RecordTable(),
    node: new RecordTable(),
  }
  /** Addresses that dynamic choice passes over, by segment and family. */
  readonly #occupied = new Map<string, IntervalSet>()
  /** By segment and family; kept where nodes share the store. */
  readonly #stripeOwners = new Map<string, StripeOwners>()
  readonly #recentlyReleased = new Map<string, LateOwn>()
  /** Kept where nodes share the store, where most records are text. */
  readonly #outlines = new LeaseOutlines()
  readonly #leasesByAttachment = new KeyIndex()
  readonly #attachmentsByNetwork = new KeyIndex()
  readonly #reservationsByPod = new KeyIndex()
  readonly #keptByWorkload = new KeyIndex()
  readonly #leasesByMac = new KeyIndex()
  readonly #liveByPool = new Map<string, number>()
  /** Leases that are kept while an owner exists that can be asked for. */
  readonly #keptForOwners = new Set<string>()
  /** By pool, namespace and family. */
  readonly #liveByNamespace = new Map<string, number>()
  /** Keys of cooling and remembered leases by pool, in the order of their release. */
  readonly #resting = new Map<string, RestingLeases>()
  /** Attachments whose ADD nobody is known to have the answer of. */
  readonly #unanswered = new Set<string>()
  /** Bound leases of any node that are reached through their node. */
  readonly #routed = new Set<string>()
  readonly #expiries = new ExpiryQueue()
  /** How many addresses each node has in use, where other nodes have the same leases. */
  readonly #boundByNode = new Map<string, number>()
  /** Kept addresses whose time is over; their records wait to be deleted. */
  readonly #expired = new Set<string>()
  readonly #times = new ToldTimes()
  /** Commits under way per record, and records that a refused commit left in doubt. */
  readonly #underWay = new Map<string, number>()
  readonly #doubtful = new Map<string, { kind: RecordKind; key: string }>()
  /** Records as they were before the commits under way. */
  readonly #firm = new Map<string, Firm>()
  /** Leases and reservations that the engine has, and that it cannot tell or that no ipkeeper wrote so. */
  readonly #untold = new Set<string>()
  /** Why the store refused the last change, and when it was last tried since; undefined while it takes them. */
  #refusal: { problem: Problem; triedAt: number } | undefined
  #isSaved = false
  readonly #subscribers = new LedgerSubscribers()

  private constructor(
    store: LeaseStore,
    now: () => number,
    node: string,
    onUnsound: (kind: RecordKind, key: string) => void,
  ) {
    this.#store = store
    this.#now = now
    this.#node = node
    this.#onUnsound = onUnsound
    this.isShared = store.shared !== undefined
  }

  /**
   * Reads the whole store. `now` dates the entries of the history: milliseconds since the epoch. `node` is this one, for
   * its stripes in a store that nodes share. `onUnsound` is told of a record there that no ipkeeper wrote so.
   */
  static async open(
    store: LeaseStore,
    now: () => number = Date.now,
    node = '',
    onUnsound: (kind: RecordKind, key: string) => void = () => undefined,
  ): Promise<Ledger> {
    const ledger = new Ledger(store, now, node, onUnsound)
    store.shared?.follow(news => {
      ledger.#adopt(news)
    })
    const moment = now()
    const ahead: LeaseRecord[] = []
    await store.load(({ kind, key, text }) => {
      const table = ledger.#tables[kind]
      if (kind === 'attachment') {
        table.setText(key, text)
        ledger.#indexAttachment(key, true)
        // In a text of somebody's a quotation mark would have a backslash before it.
        if (text.includes('"unanswered":')) ledger.#unanswered.add(key)
        return
      }
      // Where nodes share the store it keeps the text anyhow, and most records are of other nodes.
      const record = ledger.isShared ? ledger.#readText(kind, key, text) : undefined
      if (ledger.isShared && !record) return
      table.setText(key, text)
      if (kind === 'holder') return
      const loaded = record ?? table.get(key)
      if (!record && !isSoundRecord(kind, key, loaded))
        throw new Problem(
          'IPK_STORE_DAMAGED',
          `store ${store.location}: ${kind} ${key} is not as ipkeeper writes it`,
        )
      ledger.#indexLoaded(kind, key, loaded)
      if (kind === 'lease' && isAhead(loaded as LeaseRecord, moment)) ahead.push(loaded as LeaseRecord)
    })
    // In the order in which they began to rest, which their moments no longer tell.
    for (const record of ahead.sort((a, b) => a.since - b.since))
      ledger.#set({ kind: 'lease', key: leaseKey(record), record })
    return ledger
  }

  /** undefined for a record that cannot be worked with: it is left out. */
  #readText(kind: RecordKind, key: string, text: string): RecordTypes[RecordKind] | undefined {
    const record = JSON.parse(text) as RecordTypes[RecordKind]
    return this.#isSound(kind, key, record) ? record : undefined
  }

  #isSound(kind: RecordKind, key: string, record: RecordTypes[RecordKind]): boolean {
    if (!this.isShared || kind === 'attachment' || isSoundRecord(kind, key, record)) return true
    this.#onUnsound(kind, key)
    this.#leaveOut(kind, key)
    return false
  }

  /** A record that is there and cannot be told or worked with: nobody gets its address. */
  #leaveOut(kind: RecordKind, key: string): void {
    const address = kind === 'lease' || kind === 'reservation' ? addressOf(key) : undefined
    if (!address) return
    this.#untold.add(recordId({ kind, key }))
    this.#occupy(address)
  }

  /** It is gone, or can be told again. */
  #leaveIn(kind: RecordKind, key: string): void {
    const address = this.#untold.delete(recordId({ kind, key })) ? addressOf(key) : undefined
    if (address) this.#occupy(address)
  }

  /** Calls the listener from now on; gives what ends that. */
  subscribe(listener: LedgerListener): () => void {
    return this.#subscribers.add(listener)
  }

  // ---- AddressBook

  lease(key: LeaseKey): LeaseRecord | undefined {
    return this.#tables.lease.get(leaseKey(key))
  }

  holder(holder: Holder): HolderRecord | undefined {
    return this.#tables.holder.get(holderKey(holder))
  }

  attachment(key: AttachmentKey): AttachmentRecord | undefined {
    return this.#tables.attachment.get(attachmentKey(key)) ?? this.#attachmentElsewhere(key)
  }

  #attachmentElsewhere(key: AttachmentKey): AttachmentRecord | undefined {
    if (!this.isShared) return undefined
    const [lease] = this.leasesOf(key)
    return lease && attachmentByLease(lease)
  }

  leasesOf(key: AttachmentKey): readonly LeaseRecord[] {
    const keys = this.#leasesByAttachment.get(attachmentKey(key))
    return [...keys]
      .flatMap(lease => this.#tables.lease.get(lease) ?? [])
      .sort((a, b) => a.rangeSet - b.rangeSet)
  }

  *attachmentsOf(network: string): Iterable<AttachmentRecord> {
    for (const key of this.#attachmentsByNetwork.get(network)) {
      const attachment = this.#tables.attachment.get(key)
      if (attachment) yield attachment
    }
  }

  leasesKeptFor(namespace: string, workload: string): readonly LeaseRecord[] {
    return [...this.#keptByWorkload.get(podName(namespace, workload))]
      .flatMap(key => this.#tables.lease.get(key) ?? [])
      .sort((a, b) => a.since - b.since)
  }

  *resting(pool: string): Iterable<LeaseRecord> {
    for (const { key } of this.#resting.get(pool)?.inOrder() ?? []) {
      const lease = this.#tables.lease.peek(key)
      if (lease) yield lease
    }
  }

  *restingToReuse(pool: string): Iterable<LeaseRecord> {
    const resting = this.#resting.get(pool)
    if (this.isShared && resting) {
      for (const key of inOrderOf(this.#node, resting.inOrder(), resting.size)) {
        const lease = this.#tables.lease.peek(key)
        if (lease) yield lease
      }
    }
    yield* this.resting(pool)
  }

  /** Cooling and remembered leases of every pool. */
  *allResting(): Iterable<LeaseRecord> {
    for (const pool of this.#resting.keys()) yield* this.resting(pool)
  }

  restingCount(pool: string): number {
    return this.#resting.get(pool)?.size ?? 0
  }

  liveIn(pool: string, namespace: string, family: Family, now: number): number {
    const counter = inNamespace(pool, namespace, family)
    let count = this.#liveByNamespace.get(counter) ?? 0
    for (const lease of count > 0 ? this.#overAt(now) : []) {
      if (lease.state === 'held' && counterOf(lease) === counter) count--
    }
    return count
  }

  reservation(key: LeaseKey): ReservationRecord | undefined {
    return this.#tables.reservation.get(leaseKey(key))
  }

  reservationsFor(namespace: string, name: string): readonly ReservationRecord[] {
    const keys = this.#reservationsByPod.get(podName(namespace, name))
    return [...keys].flatMap(key => this.#tables.reservation.get(key) ?? [])
  }

  quota(key: Pick<QuotaRecord, 'pool' | 'namespace' | 'family'>): QuotaRecord | undefined {
    return this.#tables.quota.get(quotaKey(key))
  }

  *leasesWithMac(mac: string): Iterable<LeaseRecord> {
    for (const key of this.#leasesByMac.get(mac)) {
      const lease = this.#tables.lease.get(key)
      if (lease) yield lease
    }
  }

  macGuard(key: Pick<MacRecord, 'segment' | 'lastOctet'>): MacRecord | undefined {
    return this.#tables.mac.get(macGuardKey(key))
  }

  pool(name: string): PoolRecord | undefined {
    return this.#tables.pool.get(name)
  }

  /** Whether the address is the gateway of a pool that is or was in use. */
  isGateway(address: string): boolean {
    for (const { ranges } of this.pools()) {
      if (ranges.flat().some(({ gateway }) => gateway === address)) return true
    }
    return false
  }

  pools(): Iterable<PoolRecord> {
    return this.#tables.pool.values()
  }

  lowestFree(segment: string, family: Family, run: Interval): Address | undefined {
    const occupied = this.#occupiedIn(segment, family)
    const owners = this.#ownersIn(segment, family)
    const value = this.isShared
      ? chooseInBlocks(this.#node, run, {
          firstFree: ({ first, last }) => occupied.firstGap(first, last),
          isOfOtherNode: stripe => owners.hasOthers(stripe, this.#node),
          recentlyReleased: interval =>
            this.#lateOwnIn(segment, family).find(
              interval,
              address => occupied.firstGap(address, address) !== undefined,
            ),
        })
      : occupied.firstGap(run.first, run.last)
    return value === undefined ? undefined : { family, value }
  }

  *leasesWithin(segment: string, set: RangeSet): Iterable<LeaseKey & LeaseOutline> {
    for (const [key, address] of within(this.#tables.lease.keys(), segment, set)) {
      const outline = this.#outlineOf(key)
      if (outline) yield { segment, address, ...outline }
    }
  }

  *reservationsWithin(segment: string, set: RangeSet): Iterable<ReservationRecord> {
    for (const [key] of within(this.#tables.reservation.keys(), segment, set)) {
      const reservation = this.#tables.reservation.peek(key)
      if (reservation) yield reservation
    }
  }

  hasLiveLease(pool: { readonly name: string }): boolean {
    return (this.#liveByPool.get(pool.name) ?? 0) > 0
  }

  // ---- Listings

  leases(): Iterable<LeaseRecord> {
    return this.#tables.lease.walk()
  }

  /** The keys of all leases, whose records stay unparsed. */
  *leaseKeys(): Iterable<LeaseKey> {
    for (const key of this.#tables.lease.keys()) {
      const [segment, address] = JSON.parse(key) as [string, string]
      yield { segment, address }
    }
  }

  attachments(): Iterable<AttachmentRecord> {
    return this.#tables.attachment.values()
  }

  /** Records of a kind that may be what is looked for, by their text; of what is parsed already that is not asked. */
  search<K extends 'lease' | 'holder' | 'attachment'>(
    kind: K,
    mayBe: (text: string) => boolean,
  ): Iterable<RecordTypes[K]> {
    const table: RecordTable<RecordTypes[K]> = this.#tables[kind]
    return table.search(mayBe)
  }

  /** How many addresses a node has in use, where other nodes have the same leases; else 0. */
  boundOn(node: string): number {
    return this.#boundByNode.get(node) ?? 0
  }

  /** Whether this node's own record tells of an attachment, and not only leases of it. */
  hasAttachment(key: AttachmentKey): boolean {
    return this.#tables.attachment.has(attachmentKey(key))
  }

  /** All leases, as far as counting needs them. */
  *leaseOutlines(): Iterable<LeaseKey & LeaseOutline> {
    for (const key of this.#tables.lease.keys()) {
      const outline = this.#outlineOf(key)
      const [segment, address] = JSON.parse(key) as [string, string]
      if (outline) yield { segment, address, ...outline }
    }
  }

  /** A lease as far as counting needs it. */
  leaseOutline(key: LeaseKey): LeaseOutline | undefined {
    return this.#outlineOf(leaseKey(key))
  }

  /** The keys of all attachments, whose records stay unparsed. */
  *attachmentKeys(): Iterable<AttachmentKey> {
    for (const key of this.#tables.attachment.keys()) {
      const [network, containerId, ifname] = JSON.parse(key) as [string, string, string]
      yield { network, containerId, ifname }
    }
  }

  /** Whether there are attachments of a network, or ranges that came with its ADDs. */
  hasNetwork(name: string): boolean {
    const pool = this.pool(name)
    return this.#attachmentsByNetwork.has(name) || (pool !== undefined && pool.origin === undefined)
  }

  /** Attachments whose ADD nobody is known to have the answer of, of every node and boot. */
  unanswered(): readonly AttachmentRecord[] {
    return [...this.#unanswered].flatMap(key => this.#tables.attachment.get(key) ?? [])
  }

  reservations(): Iterable<ReservationRecord> {
    return this.#tables.reservation.walk()
  }

  node(name: string): NodeRecord | undefined {
    return this.#tables.node.get(name)
  }

  /** What nodes told of themselves. */
  nodes(): Iterable<NodeRecord> {
    return this.#tables.node.values()
  }

  /** Bound leases that are reached through their node, of every node. */
  *routedLeases(): Iterable<LeaseRecord> {
    for (const key of this.#routed) {
      const lease = this.#tables.lease.get(key)
      if (lease) yield lease
    }
  }

  /**
   * The record as everybody would be told who asked now; while the engine is away (`storeStatus`), as it was last heard.
   * Rejects as `read` of a store does.
   */
  async readNode(name: string): Promise<NodeRecord | undefined> {
    const read = await this.#store.read('node', name)
    const record = read && this.#isSound('node', name, read) ? read : undefined
    // What was read is not told as news afterwards.
    if (!this.#underWay.has(recordId({ kind: 'node', key: name })))
      this.#set({ kind: 'node', key: name, record: record ?? null })
    return record
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

  /** What sandboxes of this node had when a daemon was last here, and have no more by somebody else's hand. */
  takenAtStart(): readonly LeaseRecord[] {
    return this.#store.shared?.takenAtStart() ?? []
  }

  /** @throws Problem IPK_STORE_AWAY while it is not known what other nodes have */
  expectHeard(): void {
    if (!this.isHeard())
      throw new Problem('IPK_STORE_AWAY', 'this daemon has not heard yet what other nodes have', {
        details: this.storeStatus()?.reason ?? '',
      })
  }

  /** How it stands with the store; undefined where one daemon has it to itself. */
  storeStatus(): StoreStatus | undefined {
    return this.#store.shared?.status()
  }

  /** Nodes that have addresses in use; none in a ledger that one node has to itself. */
  nodesInUse(): Iterable<string> {
    return this.#boundByNode.keys()
  }

  counts(): Readonly<Record<RecordKind, number>> {
    const count = (kind: RecordKind): [RecordKind, number] => [kind, this.#tables[kind].size]
    return Object.fromEntries(recordKinds.map(count)) as Record<RecordKind, number>
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
    const records = this.#recordsInMemory()
    const rescued = how === 'beside' ? await file.saveBeside(records) : await file.rescue(records)
    this.#isSaved = !rescued.inUse
    if (rescued.inUse) {
      this.#refusal = undefined
      this.#subscribers.publish('servingAgain')
    }
    return rescued
  }

  /** Every record that is durable: also when the store cannot be read any more. */
  #recordsInMemory(): readonly StoredRecord[] {
    return recordKinds.flatMap(kind => {
      const records = [...this.#tables[kind].texts()].flatMap(([key, text]) => {
        const firm = this.#firm.get(recordId({ kind, key }))
        if (!firm) return [{ kind, key, text }]
        return firm.record ? [{ kind, key, text: JSON.stringify(firm.record) }] : []
      })
      const deleted = [...this.#firm].flatMap(([id, { record }]) => {
        const key = id.startsWith(`${kind} `) ? id.slice(kind.length + 1) : undefined
        return key !== undefined && record && !this.#tables[kind].has(key)
          ? [{ kind, key, text: JSON.stringify(record) }]
          : []
      })
      return [...records, ...deleted]
    })
  }

  /** Hands over every record that is durable, as the store has it. */
  async load(visit: (stored: StoredRecord) => void): Promise<void> {
    await this.#store.load(visit)
  }

  // ---- History, which is in the store only

  /** Entries that are durable, the newest first. */
  async history(query: HistoryQuery): Promise<readonly HistoryEntry[]> {
    return await this.#store.history(query)
  }

  /** Forgets what the rule lets go, in small steps; resolves to the number of entries. */
  async pruneHistory(rule: HistoryRule): Promise<number> {
    return await this.#store.pruneHistory(rule)
  }

  /** This node is called so from here on. */
  callNode(name: string): void {
    this.#node = name
  }

  // ---- Changing

  /** Takes over what another node has changed. What plans of this node do not ask for stays text. */
  #adopt({ kind, key, text }: StoreNews): void {
    const record = text === null ? undefined : this.#readText(kind, key, text)
    const { before, kept } = this.#set({ kind, key, record: record ?? null })
    if (text === null || record) this.#leaveIn(kind, key)
    if (kind === 'lease' && record) this.#tellStray(key)
    if (text !== null && record && kept === record) this.#tables[kind].setText(key, text)
    if (kind === 'pool') this.#subscribers.publish('poolChangedElsewhere')
    if (kind === 'lease' && before && record) {
      const [had, has] = [before as LeaseRecord, record as LeaseRecord]
      if (had.node === this.#node && isTakenAway(had, has)) this.#subscribers.publish('takenAway', had)
    }
  }

  #tellStray(key: string): void {
    const lease = this.#tables.lease.get(key)
    if (lease?.node !== this.#node || lease.state !== 'bound' || !lease.attachment) return
    if (!this.#tables.attachment.has(attachmentKey(lease.attachment)))
      this.#subscribers.publish('stray', lease.attachment)
  }

  /**
   * Reads again what a refused commit left in doubt; to be awaited before a plan is made.
   *
   * @param holder whose addresses are to be known: of what other nodes write, news of one record may come before that of
   *   another, and a pod whose address is not known would get a second one
   */
  async settle(holder?: Holder): Promise<void> {
    await this.#readDoubtful()
    if (!holder || !this.isShared) return
    const record = this.holder(holder)
    for (const lease of record?.leases ?? []) {
      const write = { kind: 'lease', key: leaseKey(lease) } as const
      if (record && !isLeaseOf(record, this.lease(lease))) this.#doubtful.set(recordId(write), write)
    }
    await this.#readDoubtful()
  }

  async #readDoubtful(): Promise<void> {
    for (const [id, { kind, key }] of [...this.#doubtful]) {
      if (this.#underWay.has(id)) continue
      const record = await this.#readOrSkip(kind, key)
      if (record === 'untold' || this.#underWay.has(id) || !this.#doubtful.delete(id)) continue
      this.#set({ kind, key, record: record ?? null })
      this.#leaveIn(kind, key)
    }
  }

  /**
   * A record that an engine has and cannot tell, as one of a newer ipkeeper, stays in doubt, and so does one that cannot be
   * worked with: what has nothing to do with it goes on, and nobody gets its address.
   */
  async #readOrSkip(kind: RecordKind, key: string): Promise<RecordTypes[RecordKind] | undefined | 'untold'> {
    try {
      const record = await this.#store.read(kind, key)
      return record && !this.#isSound(kind, key, record) ? 'untold' : record
    } catch (error) {
      if (!this.isShared || !(error instanceof Problem)) throw error
      if (!this.#underWay.has(recordId({ kind, key }))) this.#leaveOut(kind, key)
      return 'untold'
    }
  }

  /**
   * Applies a change and resolves when it is durable, with what it means for the history. Rejects with IPK_STORE_CONFLICT (plan again after `settle`) or
   * IPK_STORE_FAILED; then nothing of it is in the store.
   */
  async commit(change: Change): Promise<void> {
    if (change.length === 0) return
    for (const write of change) {
      const present = this.#tables[write.kind].peek(write.key)
      if ((present?.generation ?? null) !== write.expect)
        throw conflict(new StoreConflict(write.kind, write.key))
    }
    const now = this.#now()
    const events = change.flatMap(write => {
      const before = write.kind === 'lease' ? this.#tables.lease.peek(write.key) : undefined
      return historyEvent(write, before, now) ?? []
    })
    for (const write of change) {
      const id = recordId(write)
      if (!this.#firm.has(id)) this.#firm.set(id, this.#present(write))
      this.#count(write, 1)
      this.#set(write)
    }
    try {
      await this.#store.commit(change, events)
    } catch (error) {
      for (const write of change) {
        this.#count(write, -1)
        this.#doubtful.set(recordId(write), { kind: write.kind, key: write.key })
        this.#putBack(write)
      }
      // While only the engine is away, the node serves what it has: it is not unfit for it.
      if (!(error instanceof StoreConflict) && !isAway(error))
        this.#refusal ??= { problem: toProblem(error), triedAt: -Infinity }
      // A store that cannot be read either leaves the records in doubt until the next plan asks.
      await this.settle().catch(() => undefined)
      throw error instanceof StoreConflict ? conflict(error) : error
    }
    this.#refusal = undefined
    for (const write of change) {
      const id = recordId(write)
      this.#count(write, -1)
      // Now known for sure; a reading that began before must not overwrite it.
      this.#doubtful.delete(id)
      if (this.#underWay.has(id)) this.#firm.set(id, { record: write.record, told: undefined })
      else this.#firm.delete(id)
    }
  }

  #present({ kind, key }: { kind: RecordKind; key: string }): Firm {
    const record = this.#tables[kind].peek(key) ?? null
    return { record, told: kind === 'lease' ? this.#times.of(key) : undefined }
  }

  /** What was before the refused commits, once none is under way: reading it again may fail as well. */
  #putBack({ kind, key }: Write): void {
    const id = recordId({ kind, key })
    if (this.#underWay.has(id)) return
    const { record, told } = this.#firm.get(id) ?? { record: null, told: undefined }
    this.#put(kind, key, record ?? undefined)
    if (kind === 'lease') this.#times.restore(key, told)
    this.#firm.delete(id)
  }

  /**
   * Whether the store takes changes, by what became of the last one: then nothing is written. After a refusal it is tried
   * now and then, because nobody adds to a node that is not ready, and so nothing else would tell.
   *
   * @param now milliseconds of a clock that nobody sets
   * @throws what the store said last: IPK_STORE_FAILED; IPK_STORE_LOST or IPK_STORE_DAMAGED of its file
   */
  async checkStore(now: number): Promise<void> {
    const fault = this.#store.file?.fault()
    if (fault) throw fault
    const refusal = this.#refusal
    if (!refusal) return
    if (now - refusal.triedAt < probePause) throw refusal.problem
    refusal.triedAt = now
    try {
      await this.#store.probe()
      await this.settle()
    } catch (error) {
      throw (refusal.problem = toProblem(error))
    }
    this.#refusal = undefined
  }

  /**
   * Lets kept addresses go whose time is over, so that dynamic choice sees them; returns their leases, whose records are
   * still to be deleted. Also those of earlier calls that are not deleted yet; remembered ones stay.
   */
  expire(now: number): readonly LeaseRecord[] {
    for (const { key, until } of this.#expiries.takeUntil(now)) {
      const lease = this.#tables.lease.get(key)
      if (lease?.until !== until || lease.state === 'bound' || lease.remembered) continue
      this.#expired.add(key)
      this.#occupy(lease)
    }
    return [...this.#expired].flatMap(key => this.#tables.lease.get(key) ?? [])
  }

  /**
   * The clock was set by so many milliseconds. What is kept or rests goes on for as long as it would have. In memory alone:
   * write-times.ts has the store told.
   */
  shiftTimes(by: number): void {
    const resting = [...this.#resting.values()].flatMap(rests =>
      Array.from(rests.inOrder(), ({ key }) => key),
    )
    const keys = new Set([...resting, ...this.#expiries.clear(), ...this.#expired])
    const now = this.#now()
    for (const key of keys) {
      const lease = this.#tables.lease.peek(key)
      if (lease)
        this.#put(
          'lease',
          key,
          this.#times.shift(key, lease, by, !this.isShared || lease.node === this.#node, now),
        )
    }
  }

  /** Leases that are kept or rest for as long as they were to, though the store has other times of them. */
  *retimed(): Iterable<LeaseRecord> {
    for (const key of [...this.#times.keys()]) {
      const lease = this.#tables.lease.peek(key)
      if (lease) yield lease
    }
  }

  /** Leases that are kept while their owner exists, and whose owner can be asked for. */
  keptForOwners(): readonly LeaseRecord[] {
    return [...this.#keptForOwners].flatMap(key => this.#tables.lease.get(key) ?? [])
  }

  /** When the next kept address becomes free; undefined when none waits. */
  nextExpiry(): number | undefined {
    return this.#expiries.next()
  }

  // ---- Indexes

  #occupiedIn(segment: string, family: Family): IntervalSet {
    return indexOf(this.#occupied, segment, family, () => new IntervalSet())
  }

  #ownersIn(segment: string, family: Family): StripeOwners {
    return indexOf(this.#stripeOwners, segment, family, () => new StripeOwners())
  }

  #lateOwnIn(segment: string, family: Family): LateOwn {
    return indexOf(this.#recentlyReleased, segment, family, () => new LateOwn())
  }

  #own(lease: LeaseRecord, step: 1 | -1): void {
    const address = parseAddress(lease.address)
    if (!address) return
    this.#ownersIn(lease.segment, address.family).count(address.value, lease.node, step)
    this.#lateOwnIn(lease.segment, address.family).note(
      address.value,
      step === -1 && lease.node === this.#node,
    )
  }

  /** Keeps the occupied set true for one address: taken while leased (and not expired) or reserved. */
  #occupy(key: LeaseKey): void {
    const address = parseAddress(key.address)
    if (!address) throw new Problem('IPK_INTERNAL', `record with address ${key.address}`)
    const id = leaseKey(key)
    const taken =
      this.#tables.reservation.has(id) ||
      (this.#tables.lease.has(id) && !this.#expired.has(id)) ||
      (['lease', 'reservation'] as const).some(kind => this.#untold.has(recordId({ kind, key: id })))
    const set = this.#occupiedIn(key.segment, address.family)
    if (taken) set.add(address.value)
    else set.delete(address.value)
  }

  /** Leases whose time is over, though their records are still there: few, unless a clock leapt or the store refuses. */
  *#overAt(now: number): Generator<LeaseRecord, undefined> {
    const due = Array.from(this.#expiries.upTo(now), ({ key }) => key)
    for (const key of new Set([...this.#expired, ...due])) {
      const lease = this.#tables.lease.get(key)
      if (lease && isOver(lease, now)) yield lease
    }
  }

  #count(write: Write, step: number): void {
    const id = recordId(write)
    const count = (this.#underWay.get(id) ?? 0) + step
    if (count === 0) this.#underWay.delete(id)
    else this.#underWay.set(id, count)
  }

  /** By the key alone, so that the record itself can stay unparsed. */
  #indexAttachment(key: string, present: boolean): void {
    keep(this.#attachmentsByNetwork, networkOfAttachment(key), key, present)
  }

  #indexLoaded(kind: RecordKind, key: string, record: RecordTypes[RecordKind] | undefined): void {
    if (!record) return
    this.#reindex(kind, key, record, true)
    if (kind === 'lease' || kind === 'reservation') this.#occupy(record as LeaseKey)
  }

  /** Takes a record over as it was written. Gives what was there before, and what is kept: a lease perhaps with other times (told-times.ts). */
  #set(write: { kind: RecordKind; key: string; record: RecordTypes[RecordKind] | null }): {
    before: RecordTypes[RecordKind] | undefined
    kept: RecordTypes[RecordKind] | undefined
  } {
    const { kind, key, record } = write
    const after = kind === 'lease' && record ? this.#inOurTimes(key, record as LeaseRecord) : record
    if (kind === 'lease' && !after) this.#times.restore(key, undefined)
    const before = this.#put(kind, key, after ?? undefined)
    return { before, kept: after ?? undefined }
  }

  #inOurTimes(key: string, told: LeaseRecord): LeaseRecord {
    // It may be now that the clock is found to have been set, which moves what is there.
    const now = told.until === null ? 0 : this.#now()
    const present = this.#times.of(key) === undefined ? undefined : this.#tables.lease.peek(key)
    return this.#times.ours(key, told, present, now)
  }

  /** The one place that changes a table, and every index with it. Gives what was there before. */
  #put(
    kind: RecordKind,
    key: string,
    after: RecordTypes[RecordKind] | undefined,
  ): RecordTypes[RecordKind] | undefined {
    const before = this.#tables[kind].peek(key)
    const table = this.#tables[kind] as RecordTable<RecordTypes[RecordKind]>
    if (after) table.set(key, after)
    else table.delete(key)
    if (kind === 'lease' && !after) this.#outlines.delete(key)
    if (before) this.#reindex(kind, key, before, false)
    if (after) this.#reindex(kind, key, after, true)
    const touched = after ?? before
    if (touched) this.#subscribers.publish('changed', { kind, record: touched } as ChangedRecord)
    if (kind === 'lease' || kind === 'reservation') {
      if (kind === 'lease') this.#expired.delete(key)
      const either = after ?? before
      if (either) this.#occupy(either as LeaseKey)
    }
    return before
  }

  #outlineOf(key: string): LeaseOutline | undefined {
    if (this.isShared) return this.#outlines.get(key)
    const lease = this.#tables.lease.get(key)
    return lease && outlineOf(lease)
  }

  #countLive(lease: LeaseRecord, step: 1 | -1): void {
    this.#liveByPool.set(lease.pool, (this.#liveByPool.get(lease.pool) ?? 0) + step)
    const counter = counterOf(lease)
    if (counter === undefined) return
    const count = (this.#liveByNamespace.get(counter) ?? 0) + step
    if (count === 0) this.#liveByNamespace.delete(counter)
    else this.#liveByNamespace.set(counter, count)
  }

  #countBound({ node }: LeaseRecord, step: 1 | -1): void {
    const count = (this.#boundByNode.get(node) ?? 0) + step
    if (count === 0) this.#boundByNode.delete(node)
    else this.#boundByNode.set(node, count)
  }

  #rest(lease: LeaseRecord, key: string, present: boolean): void {
    let resting = this.#resting.get(lease.pool)
    if (!resting) this.#resting.set(lease.pool, (resting = new RestingLeases()))
    if (present) resting.add(key, lease)
    else resting.delete(key)
    if (resting.size === 0) this.#resting.delete(lease.pool)
  }

  #reindex(kind: RecordKind, key: string, record: RecordTypes[RecordKind], present: boolean): void {
    switch (kind) {
      case 'lease': {
        const lease = record as LeaseRecord
        if (lease.attachment) keep(this.#leasesByAttachment, attachmentKey(lease.attachment), key, present)
        if (this.isShared) this.#own(lease, present ? 1 : -1)
        if (this.isShared && present) this.#outlines.set(key, lease)
        if (this.isShared && lease.state === 'bound') this.#countBound(lease, present ? 1 : -1)
        if (lease.state === 'cooling') this.#rest(lease, key, present)
        else this.#countLive(lease, present ? 1 : -1)
        if (lease.workload && isKeptFor(lease, lease.workload)) {
          const { namespace, name } = lease.workload
          keep(this.#keptByWorkload, podName(namespace, name), key, present)
        }
        const forOwner =
          lease.state === 'held' &&
          lease.retain === 'while-owner-exists' &&
          lease.workload !== undefined &&
          isKnown(lease.workload)
        if (forOwner && present) this.#keptForOwners.add(key)
        else this.#keptForOwners.delete(key)
        if (present && lease.until !== null) this.#expiries.add(key, lease.until)
        if (present && (forOwner || lease.until !== null)) this.#subscribers.publish('kept')
        if (lease.mac !== null) keep(this.#leasesByMac, lease.mac, key, present)
        if (lease.state === 'bound' && lease.carried === 'routed') {
          if (present) this.#routed.add(key)
          else this.#routed.delete(key)
          this.#subscribers.publish('routing')
        }
        return
      }
      case 'attachment': {
        this.#indexAttachment(key, present)
        const { unanswered } = record as AttachmentRecord
        if (present && unanswered) {
          this.#unanswered.add(key)
          this.#subscribers.publish('unanswered')
        } else this.#unanswered.delete(key)
        return
      }
      case 'reservation': {
        const { namespace, name } = record as ReservationRecord
        keep(this.#reservationsByPod, podName(namespace, name), key, present)
        return
      }
      case 'node':
        this.#subscribers.publish('routing')
        return
      case 'holder':
      case 'pool':
      case 'quota':
      case 'mac':
        return
    }
  }
}

/** Whether a pod of the workload may be given it: kept, or as good as kept once its sandbox is proved gone. */
function isKeptFor({ state, retain, holder }: LeaseRecord, workload: Workload): boolean {
  return (
    state === 'held' ||
    (state === 'bound' &&
      retains(retain) &&
      holder.kind === 'pod' &&
      bearsGeneratedName(holder.name, workload))
  )
}

/** A record before the commits under way, and what the store has of its times. */
interface Firm {
  readonly record: RecordTypes[RecordKind] | null
  readonly told: Told | undefined
}

function isAway(error: unknown): boolean {
  return error instanceof Problem && error.code === 'IPK_STORE_AWAY'
}

/** Keys with their addresses, of those that are in the set; the records themselves may stay text. */
function* within(
  keys: Iterable<string>,
  segment: string,
  set: RangeSet,
): Iterable<readonly [key: string, address: string]> {
  const begin = leaseKey({ segment, address: '' }).slice(0, -2)
  for (const key of keys) {
    const address = key.slice(begin.length, -2)
    if (key.startsWith(begin) && isWithin(set, address)) yield [key, address]
  }
}

/** Whether a lease is as the record of its holder says. */
function isLeaseOf({ holder, attachment }: HolderRecord, lease: LeaseRecord | undefined): boolean {
  if (!lease || holderKey(lease.holder) !== holderKey(holder)) return false
  return attachment ? sameAttachment(lease.attachment, attachment) : lease.state === 'held'
}

/** Of the key of a lease; undefined where somebody made up a key. */
function addressOf(key: string): LeaseKey | undefined {
  try {
    const [segment, address] = JSON.parse(key) as [unknown, unknown]
    if (typeof segment !== 'string' || typeof address !== 'string' || !parseAddress(address)) return undefined
    return { segment, address }
  } catch {
    return undefined
  }
}

function recordId(write: { kind: RecordKind; key: string }): string {
  return `${write.kind} ${write.key}`
}

function conflict(cause: StoreConflict): Problem {
  return new Problem('IPK_STORE_CONFLICT', cause.message, { cause })
}

/** The index of a segment and family; made with the first address there. */
function indexOf<T>(all: Map<string, T>, segment: string, family: Family, make: () => T): T {
  const key = `${family} ${segment}`
  let index = all.get(key)
  if (index === undefined) all.set(key, (index = make()))
  return index
}

export function isWithin(set: RangeSet, text: string): boolean {
  const address = parseAddress(text)
  return (
    address !== undefined &&
    set.some(
      range =>
        range.family === address.family &&
        range.first.value <= address.value &&
        address.value <= range.last.value,
    )
  )
}

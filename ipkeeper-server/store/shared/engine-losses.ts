import { Problem } from '../../../shared/problem/problem.ts'
import {
  epochOf,
  firstEpoch,
  isKnownUnder,
  isPlaceholder,
  owingNodes,
  untoldNodes,
  withFormer,
  withReturn,
} from '../../ipam/records/node-record.ts'
import type { NodeClaim, NodeRecord } from '../../ipam/records/records.ts'
import { StoreConflict, type StoreStatus } from '../lease-store.ts'
import { EngineMemory, foundBy, lacksNode } from './engine-memory.ts'
import type { Engine, EnginePosition, SharedKind, EngineRecord } from './engine.ts'
import type { Note } from './journal.ts'
import type { KnownRecords } from './known-records.ts'
import { userOf, type UserIs } from './pending-write.ts'

/** Times that a name is signed when the engine does not keep it. */
const mostSigned = 5

export interface EngineLossesOptions {
  readonly engine: Engine
  readonly known: KnownRecords
  /** This one's, as in SharedStoreOptions. */
  readonly names: () => readonly string[]
  /** By which it claims names, as in SharedStoreOptions. */
  readonly claim?: NodeClaim
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Somebody who only looks, or copies records while no daemon runs, finds no losses. */
  readonly isOffline: boolean
  /** As in SharedStoreOptions. */
  readonly takesUp: boolean
  readonly note: (notes: readonly Note[]) => void
  /** Another node has found a loss. */
  readonly onLoss: (reason: string) => void
  /** Whether something is waited for has changed, or what. */
  readonly onChange: () => void
}

/**
 * Losses of the engine's records (ipam/engine-loss.ts): by what one is found, in which epoch this node has told again what it
 * holds, and whom one waits for besides. What is told again is the store's.
 */
export class EngineLosses {
  readonly #options: EngineLossesOptions
  readonly #memory: EngineMemory
  /** Losses that were found by this run. */
  #count = 0
  /** The epoch in which this node has told what it holds. */
  #reported = firstEpoch
  /** Whether the engine has of this node that it has not told what waits for others. */
  #owes = false
  /** By name: the ID of the machine that has claimed it. */
  readonly #claimants = new Map<string, string>()
  /** Names under which no daemon has said anything of itself. */
  readonly #placeholders = new Set<string>()
  /** Nodes that are waited for, besides this one; and of these, those that have told nothing yet. */
  #awaited: readonly string[] = []
  #untold: readonly string[] = []
  /** Why the engine has other data than it had, until that is heard. */
  #broken: string | undefined
  /** Whether all was heard once. */
  #isHeard = false
  /** Whether the journal had something about this engine. */
  #wasKnown = false
  /** Whether sandboxes of this node may live that are not on record. */
  #takesUp: boolean

  constructor(options: EngineLossesOptions) {
    const { engine } = options
    this.#options = options
    this.#takesUp = options.takesUp
    this.#memory = new EngineMemory(`${engine.kind} ${engine.location}`)
  }

  /** Takes note of what the journal has. */
  found(text: string): void {
    this.#memory.found(text)
    this.#wasKnown = this.knowsEngine
  }

  /** Whether the journal has something about this engine, or all of it was heard. */
  get knowsEngine(): boolean {
    return !this.#memory.isNew
  }

  /** Whether an earlier run found one, and this node has not told yet what it holds. */
  get mustTell(): boolean {
    return this.#wasKnown && this.#isHeard && !this.hasReported()
  }

  /** How many were found since the start: what was compared before the last one proves nothing. */
  get count(): number {
    return this.#count
  }

  /** Something of this revision was heard of. */
  passed(revision: number): void {
    this.#memory.passed(revision)
  }

  note(): Note {
    return this.#memory.note()
  }

  // ---- Finding one

  broke(reason: string): void {
    this.#broken ??= reason
  }

  /**
   * Why the engine must have lost records, by all that it has now; undefined when nothing says so. To be called with each list,
   * before anybody hears of it.
   *
   * @param bound what is bound here and no commit is under way for: IDs, and the revisions that they had at the least
   */
  judge(
    records: readonly EngineRecord[],
    position: EnginePosition,
    bound: () => ReadonlyMap<string, number>,
  ): string | undefined {
    const { engine, known, names, isOffline } = this.#options
    if (isOffline) return undefined
    this.#claimants.clear()
    for (const { kind, text } of records)
      if (kind === 'node') this.#hearOfClaim(JSON.parse(text) as NodeRecord)
    const broken = this.#broken
    this.#broken = undefined
    // A journal that knows nothing of this engine proves nothing by what it does not have.
    const reason =
      (this.#memory.isNew ? undefined : broken) ??
      this.#memory.lossIn({
        isOwn: name => names().includes(name),
        ...{ records, position, isFirst: !this.#isHeard, bound: bound() },
        revisionOf: record => known.get(record)?.revision,
        keepsNodes: !engine.ignores.includes('node'),
        keepsEndings: !engine.ignores.includes('ending'),
      })
    this.#memory.heard(position)
    return reason
  }

  /** A loss was found. */
  lost(reason: string, records: Iterable<EngineRecord>): void {
    this.#count++
    // What was told before was told to what is lost.
    this.#reported = firstEpoch
    this.#owes = false
    let newest = firstEpoch
    for (const { kind, text } of records)
      if (kind === 'node') newest = Math.max(newest, epochOf(JSON.parse(text) as NodeRecord))
    this.#memory.lost(reason, newest, this.#options.now())
  }

  /** All was heard, for the first time or again. `hasCopies`: something is bound here by the journal. */
  heardAll(hasCopies: boolean): void {
    if (!this.#isHeard) {
      for (const node of this.#nodes()) this.#memory.sees(node)
      const isKnown = this.#nodes().some(({ name }) => this.isOwn(name))
      // Who has nothing in the engine, and never had, has nothing to tell. What the own records say is looked at below.
      if (isKnown || (this.#count === 0 && !hasCopies)) this.#reported = this.#memory.epoch
    }
    this.#isHeard = true
    this.#see()
  }

  // ---- Nodes

  /**
   * Whether a name is this node's: it has claimed it, be it one that it gave up since, in an engine that went back. Where another machine has
   * claimed it since, that one tells what it holds under it, also when the engine has forgotten that claim.
   */
  isOwn(name: string): boolean {
    const claimant = this.#claimants.get(name)
    if (claimant !== undefined) return claimant === this.#options.claim?.id
    return this.#options.names().includes(name) && this.#memory.others.get(name) !== 'has it'
  }

  /**
   * Whether what is in use under a name, and not on record here, has ended: only this machine has ever had the name, as far as it has heard.
   */
  isOwnAlone(name: string): boolean {
    return this.isOwn(name) && !this.#memory.others.has(name)
  }

  /** The one in force first. */
  #ownNames(): readonly string[] {
    return [...new Set([...this.#options.names(), ...this.#claimants.keys()])].filter(name =>
      this.isOwn(name),
    )
  }

  /**
   * Names for which nobody but this node tells after a loss.
   *
   * @param records all that the engine has: a name that is in the newest epoch was another machine's meanwhile, which has told
   */
  untoldNames(records: Iterable<EngineRecord>): ReadonlySet<string> {
    const untold = new Set(this.#ownNames())
    for (const { kind, text } of records) {
      if (kind !== 'node') continue
      const node = JSON.parse(text) as NodeRecord
      if (epochOf(node) >= this.#memory.epoch) untold.delete(node.name)
    }
    return untold
  }

  #hearOfClaim(record: NodeRecord): void {
    const { name, claim, formers = [] } = record
    if (isPlaceholder(record)) this.#placeholders.add(name)
    else this.#placeholders.delete(name)
    const { claim: mine, names, note, isOffline } = this.#options
    if (mine === undefined || claim === undefined) this.#claimants.delete(name)
    else this.#claimants.set(name, claim.id)
    // One that it has claimed may be none of its names by an older journal.
    if (mine === undefined || isOffline || !(names().includes(name) || claim?.id === mine.id)) return
    const isRemembered = this.#memory.others.has(name)
    // That nobody has claimed it any more takes nothing back.
    if (claim === undefined && isRemembered) return
    const has = claim !== undefined && claim.id !== mine.id
    const had = isRemembered || formers.some(former => former.id !== mine.id && !former.gone)
    if ((has || had) && this.#memory.shares(name, has ? 'has it' : 'had it')) note([this.note()])
  }

  #nodes(): readonly NodeRecord[] {
    return Array.from(this.#options.known.of('node'), ({ text }) => JSON.parse(text) as NodeRecord)
  }

  #node(name: string): NodeRecord | undefined {
    const text = this.#options.known.get({ kind: 'node', key: name })?.text
    return text === undefined ? undefined : (JSON.parse(text) as NodeRecord)
  }

  /** An engine that keeps no records of nodes has nobody to wait for. */
  #keepsNodes(): boolean {
    return !this.#options.isOffline && !this.#options.engine.ignores.includes('node')
  }

  /** Whether this node has told what it holds, but for what waits for others. */
  hasReported(): boolean {
    return this.#reported >= this.#memory.epoch || !this.#keepsNodes()
  }

  /** Whether the engine has that it did, and whether something waits. */
  hasSaid(owes: boolean): boolean {
    return this.hasReported() && (this.#owes === owes || !this.#keepsNodes())
  }

  /** Whether all nodes have told what they hold, and nothing of that waits, as far as this one has heard. */
  isWhole(): boolean {
    return this.hasReported() && this.#awaited.length === 0 && !this.mustTakeUp()
  }

  /** Whether all nodes have told what they hold, but for what waits for others or is to be taken up. */
  haveAllTold(): boolean {
    return this.hasReported() && this.#untold.length === 0
  }

  /** Whether new addresses may be taken; `isFound`: or what is not new, but was found to be in use here. */
  mayClaim(isFound: boolean): boolean {
    return isFound ? this.haveAllTold() : this.isWhole()
  }

  // ---- Sandboxes that are not on record

  /** Whether this node has to say that something is left. One that has told everything does not take that back. */
  mustTakeUp(): boolean {
    return this.#takesUp && !this.hasSaid(false)
  }

  /** Whether the engine has lost records if it does not have what this node was found to hold, and that is no known loss. */
  mustHaveHad(): boolean {
    return this.#takesUp && this.#wasKnown && this.#keepsNodes() && this.hasSaid(false)
  }

  /** They are by now, as far as they can be. */
  tookUp(): void {
    if (!this.#takesUp) return
    this.#takesUp = false
    this.#options.onChange()
  }

  /** To be called with each change of a node's record. */
  heardOf(text: string): void {
    const record = JSON.parse(text) as NodeRecord
    const { name, gone, owes, epoch = firstEpoch } = record
    this.#hearOfClaim(record)
    const isOther = epoch !== this.#memory.epoch || !this.#memory.nodes.has(name)
    if (gone || owes || isOther || !this.isWhole()) this.#see()
  }

  #see(): void {
    if (!this.#keepsNodes() || !this.#isHeard) return
    const { note, onLoss, onChange } = this.#options
    const nodes = this.#nodes()
    const ahead = nodes.find(node => epochOf(node) > this.#memory.epoch)
    if (ahead) onLoss(foundBy(ahead))
    const before = this.#standing()
    const isNews = nodes.map(node => this.#memory.sees(node)).includes(true)
    this.#lookBehind(nodes)
    // Who has told has written records for those that have none.
    const lacking = this.hasReported() ? [] : [...this.#memory.nodes].filter(name => !this.#node(name))
    const others = (names: readonly string[]): readonly string[] =>
      [...new Set(names)].filter(name => !this.isOwn(name)).sort()
    this.#untold = others([...untoldNodes(nodes, this.#memory.epoch), ...lacking])
    this.#awaited = others([...this.#untold, ...owingNodes(nodes)])
    if (this.isWhole()) this.#memory.isWhole()
    const hasChanged = before !== this.#standing()
    if (isNews || hasChanged) note([this.note()])
    if (hasChanged) onChange()
  }

  #standing(): string {
    return JSON.stringify([this.hasReported(), this.#owes, this.#awaited, this.#untold])
  }

  /**
   * What the engine has of this node counts, and not what was told: an older write may have come later, the engine may have gone
   * back, and a name that was taken meanwhile is behind.
   */
  #lookBehind(nodes: readonly NodeRecord[]): void {
    const own = nodes.filter(({ name, gone }) => !gone && this.isOwn(name))
    if (own.length === 0) return
    this.#reported = Math.min(this.#reported, ...own.map(epochOf))
    this.#owes = own.some(({ owes }) => owes === true)
  }

  /**
   * A node's record was deleted while this one listened. It is lost, as it is where a list does not have it: no daemon deletes one, but for
   * a placeholder that was written late, which nobody waits for. While a loss is made good it is one of those that are written again.
   */
  misses(name: string): void {
    if (!this.#isHeard) return
    const isTakenBack = this.#placeholders.has(name) && !this.#awaited.includes(name)
    if (isTakenBack && this.#memory.misses(name)) this.#options.note([this.note()])
    if (this.hasReported() && this.#memory.nodes.has(name)) this.#options.onLoss(lacksNode(name))
    this.#see()
  }

  /**
   * Tells that all that is bound here is in the engine again, and whom one has to hear the same of: a node whose record is lost
   * gets one, so that everybody waits for it. Rejects as `commit` of an engine does.
   *
   * @param owes what the engine has in use on a node that has not told yet is not there again: two nodes may wait for one another,
   *   so that both tell that they are through but for this
   */
  async report(owes: boolean): Promise<void> {
    const { known, now } = this.#options
    for (const name of this.#memory.nodes) {
      if (this.isOwn(name) || this.#node(name)) continue
      await this.#put(name, null, { generation: 1, name, addresses: [], since: now() })
      // Somebody else may have been quicker, and nobody waits here for a node whose record is not known here.
      await known.ask({ kind: 'node', key: name })
    }
    while (!this.hasSaid(owes)) {
      const { epoch } = this.#memory
      for (const name of this.#ownNames()) await this.#tell(name, { epoch, owes })
      this.#reported = epoch
      this.#owes = owes
    }
    this.#see()
  }

  /**
   * Has the engine know that this machine has had a name; to be awaited before anything is told again under it. Whoever has claimed the
   * name meanwhile, or does now, would otherwise take what it has no record of for its own, and end it. Rejects as `commit` of an engine does.
   */
  async sign(name: string): Promise<void> {
    const { claim, known, names, now } = this.#options
    if (claim === undefined || !this.#keepsNodes() || !names().includes(name)) return
    const id = { kind: 'node', key: name } as const
    let present = known.get(id)
    // Custom resources of an earlier version may leave it out.
    for (let tries = 0; tries < mostSigned; tries++) {
      const record = present && (JSON.parse(present.text) as NodeRecord)
      if (record && isKnownUnder(record, claim.id)) return
      const before = record ?? { generation: 0, name, addresses: [], since: now() }
      const signed = { ...withFormer(before, claim), generation: before.generation + 1 }
      await this.#put(name, present?.revision ?? null, signed)
      present = await known.ask(id)
    }
  }

  /** Under one of this node's names; the one in force has a record from then on. */
  async #tell(name: string, told: Told): Promise<void> {
    const { names, known, now } = this.#options
    for (;;) {
      const present = await known.ask({ kind: 'node', key: name })
      const before = present && (JSON.parse(present.text) as NodeRecord)
      // One that is being given up has nobody to tell for it later.
      const isGivenUp = before === undefined || (before.gone && names().includes(before.gone.by))
      if (isGivenUp && name !== names()[0]) return
      const record = before ?? { generation: 0, name, addresses: [], since: now() }
      const after = saying(withReturn(record), told)
      if (after === before) return
      // It is read again then, so that everybody here hears of it.
      await this.#put(name, present?.revision ?? null, { ...after, generation: record.generation + 1 })
    }
  }

  /** Whether nobody else was quicker. */
  async #put(key: string, base: number | null, record: NodeRecord): Promise<boolean> {
    try {
      await this.#options.engine.commit([{ kind: 'node', key, base, text: JSON.stringify(record) }])
      return true
    } catch (error) {
      if (error instanceof StoreConflict) return false
      throw error
    }
  }

  /**
   * This node's record as it is to be written: who plans it does not know of losses. One that says so already may say it by a report
   * that the engine has taken, and whose answer is still on its way.
   */
  inEpoch(record: NodeRecord): NodeRecord {
    const said = { epoch: this.#reported, owes: this.#owes }
    return epochOf(record) >= this.#reported ? record : saying(record, said)
  }

  /** To be called when this node's names have changed: what stands under a new one may be behind. */
  named(): void {
    for (const node of this.#nodes()) this.#hearOfClaim(node)
    this.#see()
  }

  /** How it stands with the node that has a record in use, by what the engine says. */
  userIs(kind: SharedKind, text: string): UserIs {
    const user = userOf(kind, text)
    if (user === undefined) return 'nobody'
    if (this.isOwn(user)) return 'own'
    const node = this.#node(user)
    if (!node) return this.#memory.nodes.has(user) ? 'awaited' : 'reported'
    if (node.gone) return 'nobody'
    return epochOf(node) >= this.#memory.epoch ? 'reported' : 'awaited'
  }

  // ---- For people

  get #reason(): string {
    return this.#memory.loss?.reason ?? 'not all nodes have reported what they hold'
  }

  problem(): Problem {
    const { kind, location } = this.#options.engine
    const whom =
      this.#awaited.length === 0
        ? 'this node is reporting what it holds'
        : `waiting for ${this.#awaited.join(', ')} to report what is in use there`
    return new Problem(
      'IPK_STORE_INCOMPLETE',
      `${kind} ${location} has lost records (${this.#reason}): no new address is assigned until they are restored; ${whom}`,
    )
  }

  /** undefined: nothing is waited for. */
  status(): Omit<StoreStatus, 'owed'> | undefined {
    if (this.isWhole()) return undefined
    const since = this.#memory.loss?.since
    const known = { state: 'incomplete', reason: this.#reason, waitsFor: this.#awaited } as const
    return { ...known, ...(since !== undefined && { since }) }
  }
}

/** What a node says of itself after a loss. */
interface Told {
  readonly epoch: number
  /** Whether something waits for others. */
  readonly owes: boolean
}

function saying(record: NodeRecord, told: Told): NodeRecord {
  const { owes = false, ...rest } = record
  if (epochOf(record) === told.epoch && owes === told.owes) return record
  return { ...rest, epoch: told.epoch, ...(told.owes && { owes: true }) }
}

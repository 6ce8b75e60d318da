import { toProblem, type Problem } from '../../../shared/problem/problem.ts'
import type { HistoryEvent } from '../../ipam/records/history-entry.ts'
import {
  isCondition,
  sameAttachment,
  type Change,
  type HolderRecord,
  type LeaseRecord,
  type NodeRecord,
  recordId,
} from '../../ipam/records/records.ts'
import { StoreConflict } from '../lease-store.ts'
import type { BasedWrite, Revisions, SharedWrite } from './commit-order.ts'
import type { EndedAttachments } from './ended-attachments.ts'
import type { Endings } from './endings.ts'
import { EngineAway, type Engine } from './engine.ts'
import type { EngineContact } from './engine-contact.ts'
import type { EngineLosses } from './engine-losses.ts'
import type { IndeterminateCommits } from './indeterminate-commits.ts'
import type { Journal, Note } from './journal.ts'
import type { JournalCopies } from './journal-copies.ts'
import type { KnownRecords } from './known-records.ts'
import {
  combined,
  forgetNote,
  mayChangeAlone,
  pendingNote,
  type IsHere,
  type PendingWrite,
} from './pending-write.ts'
import type { Resolver } from './resolver.ts'

export interface WriteThroughOptions {
  readonly engine: Engine
  readonly journal: Journal
  readonly known: KnownRecords
  readonly copies: JournalCopies
  readonly endings: Endings
  readonly ended: EndedAttachments
  readonly indeterminate: IndeterminateCommits
  readonly losses: EngineLosses
  readonly contact: EngineContact
  readonly resolver: Resolver
  /** This one's, as in SharedStoreOptions. */
  readonly names: () => readonly string[]
  readonly isOwn: (node: string) => boolean
  readonly isHere: IsHere
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** See SharedStoreOptions. */
  readonly refusesClaims: () => Problem | undefined
  /** Whether others may have what the journal says is in use here. */
  readonly isOlder: () => boolean
  /** A node's record was written. */
  readonly onNode: (name: string, text: string | null) => void
  /** The engine does not have what it must have had. */
  readonly onLacking: (reason: string) => void
}

/** A change whose turn has come. */
export interface OrderedChange {
  readonly writes: readonly BasedWrite[]
  /** Of records that only this node has. */
  readonly local: Change
  readonly events: readonly HistoryEvent[]
  /** Losses that had been found when the change began: a later one has left these records out. */
  readonly losses: number
  /** Whether new addresses could be taken when the change was planned: else the plan went by less than there is. */
  readonly couldClaim: boolean
}

interface Intended {
  /** What is pending should the change turn out to have been for nothing. */
  readonly intents: readonly PendingWrite[]
  /** What is in the journal before the engine hears of the change. */
  readonly noted: readonly PendingWrite[]
  readonly isAdd: boolean
}

const textOf = (record: object | null): string | null => (record === null ? null : JSON.stringify(record))

/** Without conditions: those are compared, and nothing is to be remembered of them. */
const withoutConditions = <T extends SharedWrite>(writes: readonly T[]): readonly T[] =>
  writes.filter(write => !isCondition(write))

/** Whether a change takes up what lives on this node and was not on record, and gives nothing new. */
export const isFound = (writes: readonly SharedWrite[]): boolean =>
  writes.some(write => write.isFound === true)

/** Carries a change out: in the engine and then the journal, or, while the engine is away, in the journal alone. */
export class WriteThrough {
  readonly #options: WriteThroughOptions

  constructor(options: WriteThroughOptions) {
    this.#options = options
  }

  async carryOut(change: OrderedChange): Promise<Revisions> {
    const { contact, losses, resolver } = this.#options
    const { writes } = change
    if (writes.some(write => this.#isContested(write))) throw losses.problem()
    if (contact.isAway || writes.some(write => resolver.isWaiting(recordId(write))))
      return await this.#carryOutAlone(change)
    const lossesBefore = losses.count
    const isClaim = writes.some(write => this.#isClaim(write))
    if (isClaim && isFound(writes) && losses.mustHaveHad())
      this.#options.onLacking('pods that are running on this node have no record there')
    if (isClaim && !losses.mayClaim(isFound(writes))) {
      // An engine that kept no records of nodes may have begun to.
      if (!losses.hasReported()) resolver.run()
      throw losses.problem()
    }
    const [first] = writes
    // Behind guards (of MACs, of quotas) stand leases that may have been told since.
    if (isClaim && first && !(change.couldClaim && change.losses === losses.count))
      throw new StoreConflict(first.kind, first.key)
    const refusal = isClaim && this.#options.refusesClaims()
    if (refusal) throw refusal
    const isAdd = change.local.some(({ record }) => record !== null)
    const real = withoutConditions(writes)
    const intents = real.map(write => this.#takenBack(write))
    const noted = isAdd ? intents : this.#ended(real)
    if (noted.length > 0) await this.#options.journal.commit([], [], noted.map(pendingNote))
    let revisions: readonly (number | null)[]
    try {
      revisions = await this.#commitToEngine(writes)
      // It is unknown whether an engine that has lost records had what this was compared with.
      if (isClaim && lossesBefore !== losses.count)
        throw new EngineAway('it has lost records in the meantime')
    } catch (error) {
      return await this.#afterFailure(error, change, { intents, noted, isAdd })
    }
    contact.heard()
    return await this.#conclude(change, revisions, { intents, noted, isAdd })
  }

  #commitToEngine(writes: readonly BasedWrite[]): Promise<readonly (number | null)[]> {
    const { engine, endings, names, now } = this.#options
    return engine.commit([
      ...writes.map(write => {
        const { kind, key, base } = write
        return { kind, key, base, text: isCondition(write) ? undefined : this.#textOf(write) }
      }),
      ...withoutConditions(writes).flatMap(
        write => (write.kind === 'lease' && endings.of(write, write.record, names()[0] ?? '', now())) || [],
      ),
    ])
  }

  /** The engine did not take a change, or nobody can tell. Rejects, unless the journal may take it alone. */
  async #afterFailure(
    error: unknown,
    change: OrderedChange,
    { intents, noted, isAdd }: Intended,
  ): Promise<Revisions> {
    const { contact, journal, resolver } = this.#options
    const real = withoutConditions(change.writes)
    if (error instanceof EngineAway) {
      resolver.goAway(error.message)
      if (this.#allMayChangeAlone(real)) return await this.#carryOutAlone(change, true)
      resolver.add(intents)
      if (!isAdd) await journal.commit([], [], intents.map(pendingNote))
      throw contact.refusal(error)
    }
    // An engine that refuses (a missing right, no space) must not keep a DEL from ending.
    if (!isAdd && !(error instanceof StoreConflict) && this.#allMayChangeAlone(real)) {
      resolver.goAway(toProblem(error))
      return await this.#carryOutAlone(change)
    }
    // Before any later note of these records.
    if (noted.length > 0) void journal.commit([], [], noted.map(forgetNote)).catch(() => undefined)
    throw error
  }

  /** The engine has taken the change: the journal follows. */
  async #conclude(
    { writes, local, events, losses: lossesBefore }: OrderedChange,
    revisions: readonly (number | null)[],
    { intents, noted }: Intended,
  ): Promise<Revisions> {
    const { ended, journal, known, indeterminate, losses, resolver, onNode } = this.#options
    const real = withoutConditions(writes)
    const written = new Map<string, number | null>()
    for (const [index, write] of writes.entries()) {
      const revision = revisions[index] ?? null
      written.set(recordId(write), revision)
      if (!real.includes(write)) continue
      const text = this.#textOf(write)
      known.set(write, text, revision)
      // What was just written is no news when it comes by the feed.
      if (write.kind === 'node') onNode(write.key, text)
    }
    const notes = [
      ...noted.map(forgetNote),
      ...this.#copyAll(real, write => written.get(recordId(write)) ?? null),
      ...real.flatMap(write => indeterminate.wrote(write, this.#textOf(write))),
      ...ended.after(local),
    ]
    try {
      await journal.commit(local, events, notes)
    } catch (error) {
      // No caller is answered from it: what the engine has is to be taken back.
      resolver.add(intents)
      throw error
    }
    if (lossesBefore !== losses.count) {
      const again = real.map(write => ({
        ...this.#takenBack(write),
        want: textOf(write.record),
        again: true as const,
      }))
      await journal.commit([], [], again.map(pendingNote))
      resolver.add(again)
    }
    return written
  }

  /** Whether it gives to a new sandbox what the engine says to be in use on a node that has not told yet whether it still is. */
  #isContested({ kind, key, record }: SharedWrite): boolean {
    const { resolver } = this.#options
    const id = recordId({ kind, key })
    if (kind !== 'lease' || !record?.attachment || !resolver.waitsForNode(id)) return false
    const want = resolver.get(id)?.want
    const had = typeof want === 'string' ? (JSON.parse(want) as LeaseRecord).attachment : null
    return !sameAttachment(had, record.attachment)
  }

  /** Whether it takes an address that no attachment has here. */
  #isClaim(write: SharedWrite): boolean {
    if (write.kind !== 'lease' || write.record?.state !== 'bound' || isCondition(write)) return false
    return !this.#allMayChangeAlone([write])
  }

  #textOf(write: SharedWrite): string | null {
    const { losses, isOwn } = this.#options
    if (write.kind !== 'node' || !write.record) return textOf(write.record)
    const isOwnNode = isOwn(write.key) || this.#takesName(write.key, write.record)
    return textOf(isOwnNode ? losses.inEpoch(write.record) : write.record)
  }

  /** Whether it claims a name, which is this node's from then on. */
  #takesName(name: string, { claim }: NodeRecord): boolean {
    const text = this.#options.known.get({ kind: 'node', key: name })?.text
    const before = text === undefined ? undefined : (JSON.parse(text) as NodeRecord).claim
    return claim !== undefined && claim.session !== before?.session
  }

  /** What is pending when a write turns out to have been for nothing. */
  #takenBack(write: SharedWrite): PendingWrite {
    const { kind, key } = write
    const before = this.#options.known.get({ kind, key })?.text ?? null
    return { kind, key, expected: [before, this.#textOf(write)], want: before }
  }

  /**
   * What a change ends that a sandbox has here, or gives to another one: should the daemon end before its journal has that, what was in use
   * here is not passed on to a newer sandbox while the engine, which may have given it away by then, cannot be asked.
   */
  #ended(writes: readonly SharedWrite[]): readonly PendingWrite[] {
    const { copies, known } = this.#options
    const isEnd = ({ kind, key, record }: SharedWrite): boolean => {
      const text = kind === 'lease' || kind === 'holder' ? known.get({ kind, key })?.text : undefined
      if (text === undefined) return false
      const before = JSON.parse(text) as LeaseRecord | HolderRecord
      const after = record as LeaseRecord | HolderRecord | null
      const isSame =
        before.attachment !== null && sameAttachment(after?.attachment ?? null, before.attachment)
      return copies.isOfUseHere(kind, before) && !isSame
    }
    return writes.filter(isEnd).map(write => ({ ...this.#takenBack(write), want: textOf(write.record) }))
  }

  #expectedOf({ kind, key, record }: SharedWrite, tried: boolean): PendingWrite['expected'] {
    const { known, resolver } = this.#options
    const pending = resolver.get(recordId({ kind, key }))
    if (pending) return pending.expected
    const before = known.get({ kind, key })?.text ?? null
    return tried ? [before, textOf(record)] : [before]
  }

  #allMayChangeAlone(writes: readonly SharedWrite[]): boolean {
    return writes.every(write =>
      mayChangeAlone(write.kind, this.#expectedOf(write, false), write.record, this.#options),
    )
  }

  /** @param tried the engine may have it already */
  async #carryOutAlone(
    { writes, local, events, losses: lossesBefore }: OrderedChange,
    tried = false,
  ): Promise<Revisions> {
    const { contact, ended, journal, losses, refusesClaims, resolver } = this.#options
    const real = withoutConditions(writes)
    if (!this.#allMayChangeAlone(real))
      throw contact.isAway ? contact.refusal() : (refusesClaims() ?? losses.problem())
    const pending = real.map((write): PendingWrite =>
      combined(resolver.get(recordId(write)), {
        kind: write.kind,
        key: write.key,
        expected: this.#expectedOf(write, tried),
        want: textOf(write.record),
        ...(lossesBefore !== losses.count && { again: true }),
      }),
    )
    const noted = losses.count
    const notes = [...pending.map(pendingNote), ...this.#copyAll(real), ...ended.after(local)]
    await journal.commit(local, events, notes)
    const isLate = noted !== losses.count
    const unresolved = isLate ? pending.map(write => ({ ...write, again: true as const })) : pending
    if (isLate) await journal.commit([], [], unresolved.map(pendingNote))
    resolver.add(unresolved)
    // A later change of these records is based on what is pending.
    return new Map(writes.map(write => [recordId(write), null]))
  }

  #copyAll(
    writes: readonly SharedWrite[],
    revisionOf: (write: SharedWrite) => number | null = () => null,
  ): readonly Note[] {
    return writes.flatMap(write => this.#options.copies.written(write, write.record, revisionOf(write)))
  }
}

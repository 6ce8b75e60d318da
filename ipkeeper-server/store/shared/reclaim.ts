import {
  attachmentKey,
  type AttachmentKey,
  leaseKey,
  type HolderRecord,
  type LeaseKey,
  type LeaseRecord,
  recordId,
} from '../../ipam/records/records.ts'
import { endOf, writesAfterLoss } from './after-loss.ts'
import type { SharedWrite } from './commit-order.ts'
import type { EndedAttachments } from './ended-attachments.ts'
import { endedElsewhere, notEnded, type Endings } from './endings.ts'
import type { Engine, SharedRecordName, EngineRecord } from './engine.ts'
import type { EngineLosses } from './engine-losses.ts'
import type { Journal, Note } from './journal.ts'
import type { JournalCopies } from './journal-copies.ts'
import type { KnownRecords } from './known-records.ts'
import { pendingNote, userOf, type PendingWrite } from './pending-write.ts'
import type { Resolver } from './resolver.ts'

export interface ReclaimOptions {
  readonly engine: Engine
  readonly journal: Journal
  readonly known: KnownRecords
  readonly copies: JournalCopies
  readonly endings: Endings
  readonly ended: EndedAttachments
  readonly losses: EngineLosses
  readonly resolver: Resolver
  readonly isOwn: (node: string) => boolean
  /** Whether a commit or a resolution is under way for a record. */
  readonly isChanging: (id: string) => boolean
  /** What becomes of a lease whose pod has ended. */
  readonly released: (lease: LeaseRecord) => LeaseRecord
  /** The ledger has to know what a record is to be: news of it do not count while it is pending. */
  readonly onPending: (write: PendingWrite) => void
  readonly onStatus: () => void
}

/** What the engine has lost of what is bound on this node: by its journal it is written again. */
export class Reclaim {
  readonly #options: ReclaimOptions
  #noted = Promise.resolve(true)

  constructor(options: ReclaimOptions) {
    this.#options = options
  }

  // ---- An engine that has lost records

  /**
   * What is bound here is pending from here on; before that is in the journal, nothing of it is written. So is the end of what the
   * engine takes for bound here, which the ledger may know in any later state.
   */
  lost(reason: string, records: readonly EngineRecord[]): void {
    const { copies, isChanging, isOwn, losses, released, resolver, onPending, onStatus } = this.#options
    losses.lost(reason, records)
    for (const write of resolver.values()) write.again = true
    // What is being changed finds out by itself, and its note may be on its way.
    const found = this.#copiesOf(id => copies.hasId(id) && !isChanging(id), records)
    // Their revisions are of what the engine was.
    const unrevised = found.flatMap(copy => copies.written(copy, JSON.parse(copy.text) as object, null))
    const isFree = (record: SharedRecordName): boolean => !resolver.has(recordId(record))
    const again = writesAfterLoss({
      copies: notEnded(found, endedElsewhere(records, isOwn)).filter(isFree),
      records: records.filter(record => isFree(record) && !this.#mayBeElsewhere(recordId(record))),
      hasEnded: (node, attachment) => this.#hasEnded(node, attachment),
      ...{ isBusy: isChanging, released },
    })
    resolver.keep(again)
    for (const write of again) onPending(write)
    // At once: what is noted of these records later counts.
    this.#noted = this.#note(unrevised)
    onStatus()
    resolver.run()
  }

  /** Whether the journal has what is pending after a loss; tries again where it failed. */
  async isNoted(): Promise<boolean> {
    if (!(await this.#noted)) this.#noted = this.#note()
    return await this.#noted
  }

  async #note(notes: readonly Note[] = []): Promise<boolean> {
    const { journal, losses, resolver } = this.#options
    try {
      await journal.commit([], [], [losses.note(), ...notes, ...Array.from(resolver.values(), pendingNote)])
      return true
    } catch {
      return false
    }
  }

  /** What a loss has left out because a change of it was under way, which has failed. */
  afterFailure(writes: readonly SharedWrite[]): void {
    const { copies, known, resolver } = this.#options
    const ids = new Set(writes.map(recordId))
    const isMissed = (id: string): boolean => ids.has(id) && !resolver.has(id) && copies.hasId(id)
    const missed = this.#copiesOf(isMissed, known.of('node'))
      .filter(({ kind }) => kind !== 'pool')
      .map(({ kind, key, text }): PendingWrite => ({ kind, key, expected: [text], want: text, again: true }))
    resolver.addNoted(missed)
  }

  /**
   * What is heard of after a loss as in use here, by a sandbox that the journal knows nothing of, is of before the loss: the engine may have
   * gone back once more, or a commit was under way when the loss was found. Its end is pending from here on. To be called after a loss alone.
   */
  heard({ kind, key }: SharedRecordName, text: string | null): PendingWrite | undefined {
    const { journal, known, released, resolver } = this.#options
    if (text === null || (kind !== 'lease' && kind !== 'holder')) return undefined
    const user = userOf(kind, text)
    const { attachment } = JSON.parse(text) as LeaseRecord | HolderRecord
    if (user === undefined || !attachment || !this.#hasEnded(user, attachment)) return undefined
    const id = recordId({ kind, key })
    if (resolver.has(id) || this.#mayBeElsewhere(id) || journal.mayHaveAttachment(attachmentKey(attachment)))
      return undefined
    const isKept = (lease: LeaseKey): boolean => {
      const name = { kind: 'lease', key: leaseKey(lease) } as const
      const pending = resolver.get(recordId(name))
      const its = pending ? pending.want : known.get(name)?.text
      return typeof its === 'string' && (JSON.parse(its) as LeaseRecord).state === 'held'
    }
    const end = endOf({ kind, key, text }, released, isKept)
    resolver.addNoted([end])
    return end
  }

  /**
   * Whether a sandbox that the engine says to have something in use under a name has ended where it is not on record here: under a name that
   * another machine had as well it may be that one's.
   */
  #hasEnded(node: string, attachment: AttachmentKey): boolean {
    const { ended, losses } = this.#options
    return losses.isOwn(node) && (losses.isOwnAlone(node) || ended.has(attachmentKey(attachment)))
  }

  /**
   * Copies of what is to be told again: of what is bound here by the journal; and of what may be another machine's that had the name, where
   * that one has not told. What has ended here is not: another node may have given it back since.
   */
  #copiesOf(isMeant: (id: string) => boolean, records: Iterable<EngineRecord>): readonly EngineRecord[] {
    const { copies, journal, losses } = this.#options
    const found: EngineRecord[] = []
    journal.loadNotes(({ kind, key, text }) => {
      if (kind === 'copy' && isMeant(key)) found.push(copies.found(key, text))
    })
    const untold = losses.untoldNames(records)
    return found.filter(({ kind, key, text }) => {
      const [id, user] = [recordId({ kind, key }), userOf(kind, text)]
      if (this.#mayBeElsewhere(id)) return user !== undefined && untold.has(user)
      return user === undefined || journal.mayHaveAttachment(copies.attachmentOf(id) ?? '')
    })
  }

  /** Whether there is a copy of what a sandbox has that is not on record here, and is not known to have ended here either. */
  #mayBeElsewhere(id: string): boolean {
    const { copies, ended, journal } = this.#options
    const attachment = copies.attachmentOf(id)
    return attachment !== undefined && !ended.has(attachment) && !journal.mayHaveAttachment(attachment)
  }

  // ---- Single records that are missing

  /** Of an engine that was restored from a backup, or is another one: what is missing there when all of it was heard. */
  async missing(copies: readonly EngineRecord[]): Promise<void> {
    const { endings, journal, resolver } = this.#options
    const lost = notEnded(copies, endings.own()).flatMap(copy => this.#lostWrite(copy, copy.text) ?? [])
    await journal.commit([], [], lost.map(pendingNote))
    resolver.keep(lost)
  }

  /**
   * Whether a record that went while the daemon runs, or that it started with, is written again. Where the engine keeps traces of
   * what other nodes end, what goes has ended.
   *
   * @param before the record as it was
   */
  removed(name: SharedRecordName, before: string | undefined): boolean {
    const { engine, resolver } = this.#options
    if (before === undefined || !engine.ignores.includes('ending')) return false
    const lost = this.#lostWrite(name, before)
    if (!lost) return false
    resolver.addNoted([lost])
    return true
  }

  /**
   * The one rule for both: what is bound here to an attachment that is still on record, and has not ended, is written to an engine
   * that has nothing of it, unless another holder has the address by then.
   */
  #lostWrite({ kind, key }: SharedRecordName, text: string): PendingWrite | undefined {
    const { copies, journal, known, isChanging, resolver } = this.#options
    const id = recordId({ kind, key })
    if ((kind !== 'lease' && kind !== 'holder') || !copies.hasId(id)) return undefined
    if (known.get({ kind, key }) || resolver.has(id) || isChanging(id)) return undefined
    const record = JSON.parse(text) as LeaseRecord | HolderRecord
    const isInUse =
      copies.isOfUseHere(kind, record) &&
      record.attachment !== null &&
      journal.mayHaveAttachment(attachmentKey(record.attachment))
    return isInUse ? { kind, key, expected: [null], want: text } : undefined
  }
}

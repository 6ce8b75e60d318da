import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../../shared/problem/problem.ts'
import {
  leaseKey,
  sameAttachment,
  type HolderRecord,
  type LeaseKey,
  type LeaseRecord,
  recordId,
} from '../../ipam/records/records.ts'
import { StoreConflict } from '../lease-store.ts'
import type { EndedAttachments } from './ended-attachments.ts'
import { EngineAway, type Engine } from './engine.ts'
import type { EngineContact } from './engine-contact.ts'
import type { EngineLosses } from './engine-losses.ts'
import type { IndeterminateCommits } from './indeterminate-commits.ts'
import type { Journal } from './journal.ts'
import type { JournalCopies } from './journal-copies.ts'
import type { KnownRecords } from './known-records.ts'
import {
  following,
  forgetNote,
  pendingNote,
  resolutionOf,
  triedFor,
  userOf,
  type IsOwnName,
  type PendingWrite,
} from './pending-write.ts'

/** So many pending writes are resolved side by side: nothing else is committed meanwhile. */
const resolvedAtOnce = 16

/** What waits for another node is looked at so many times as seldom as an engine that is away. */
const waitingPauses = 10

export interface ResolverOptions {
  readonly engine: Engine
  readonly journal: Journal
  readonly known: KnownRecords
  readonly copies: JournalCopies
  readonly ended: EndedAttachments
  readonly indeterminate: IndeterminateCommits
  readonly losses: EngineLosses
  readonly contact: EngineContact
  readonly isOwn: IsOwnName
  /** Whether the engine is only looked at: then nothing is resolved. */
  readonly isReadOnly: boolean
  /** As in SharedStoreOptions. */
  readonly isSure: () => boolean
  /** Milliseconds between two tries of an engine that is away. */
  readonly retryAfter: number
  /** Aborted when the store closes. */
  readonly signal: AbortSignal
  /** Resolves when no commit is under way but those that wait for an `obstacle`. */
  readonly commitsEnded: () => Promise<unknown>
  /** Resolves to whether the journal has all that is pending after a loss. */
  readonly isLossNoted: () => Promise<boolean>
  readonly onStatus: () => void
  /** Another node's later change stands; null: the record is gone. */
  readonly onOverruled: (write: PendingWrite, text: string | null) => void
  /** It was written otherwise than it was pending. */
  readonly onAmended: (write: PendingWrite) => void
}

export interface UnresolvedWrite extends PendingWrite {
  /** Grows before the engine is asked to write, as the answer may be lost. */
  expected: PendingWrite['expected']
  /** Less than it was, when a part of that is not true any more, or a later version of it. */
  want: PendingWrite['want']
  /** Whether it is otherwise than the ledger was told; a try whose answer was lost may have made it so. */
  isAmended?: boolean
  /** After it was resolved: the revision in the engine; undefined when another node's change stands. */
  revision?: number | null
}

/**
 * The pending writes of this node, and the loop that resolves them once the engine can be reached. Commits wait meanwhile, so that
 * what is pending stays what it is.
 */
export class Resolver {
  readonly #options: ResolverOptions
  readonly #pending = new Map<string, UnresolvedWrite>()
  /** Of these, what waits for another node to report what it holds. */
  readonly #waiting = new Set<string>()
  readonly #resolving = new Set<string>()
  /** Whether something was heard that they may wait for, since they were looked at. */
  #isNews = false
  #onNews: () => void = () => undefined
  #running: Promise<void> | undefined
  /** Commits wait for it. */
  #gate: Promise<void> | undefined
  /** Commits wait for the next write that is resolved, or for the engine to go away. */
  #looked = Promise.withResolvers<undefined>()

  constructor(options: ResolverOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => {
      this.#onLooked()
    })
  }

  #onLooked(): void {
    this.#looked.resolve(undefined)
    this.#looked = Promise.withResolvers<undefined>()
  }

  get size(): number {
    return this.#pending.size
  }

  get(id: string): UnresolvedWrite | undefined {
    return this.#pending.get(id)
  }

  has(id: string): boolean {
    return this.#pending.has(id)
  }

  values(): Iterable<UnresolvedWrite> {
    return this.#pending.values()
  }

  /** Whether it waits for another node, or for this node's name: meanwhile that may change which this node may change alone. */
  isWaiting(id: string): boolean {
    const write = this.#pending.get(id)
    return this.waitsForNode(id) || (write !== undefined && !this.#mayResolve(write))
  }

  /** Whether it waits for another node to report what it holds. */
  waitsForNode(id: string): boolean {
    return this.#waiting.has(id)
  }

  /** Else it may be another machine's, of whose disk this one has a copy. */
  #mayResolve({ kind }: PendingWrite): boolean {
    return kind === 'node' || this.#options.isSure()
  }

  isResolving(id: string): boolean {
    return this.#resolving.has(id)
  }

  /** Whether something waits for another node. */
  get hasWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /** Takes them over; resolving them begins with `run`. That they are in the journal is up to the caller. */
  keep(writes: Iterable<PendingWrite>): void {
    for (const write of writes) this.#pending.set(recordId(write), { ...write })
  }

  add(writes: Iterable<PendingWrite>): void {
    this.keep(writes)
    this.run()
  }

  /** The same of what no journal has yet. Where the note fails, a restart finds the record as it is, and judges it again. */
  addNoted(writes: readonly PendingWrite[]): void {
    if (writes.length === 0) return
    this.add(writes)
    void this.#options.journal.commit([], [], writes.map(pendingNote)).catch(() => undefined)
  }

  /** What a commit of these records has to wait for, and then ask again; undefined when it may go on. */
  obstacle(ids: readonly string[]): Promise<unknown> | undefined {
    return this.#gate ?? (this.#isUnresolved(ids) ? this.#looked.promise : undefined)
  }

  /** Whether the engine is about to be asked for one of these: until then nothing can be compared with what it has. */
  #isUnresolved(ids: readonly string[]): boolean {
    const isOpen = !this.#options.contact.isAway && !this.#options.signal.aborted
    return isOpen && ids.some(id => this.#pending.has(id) && !this.isWaiting(id))
  }

  /** The engine cannot be reached, or refuses: tries it until it takes something again. */
  goAway(reason: string | Error): void {
    const { contact, signal, onStatus } = this.#options
    if (contact.isAway || signal.aborted) return
    contact.goAway(reason)
    this.#onLooked()
    onStatus()
    this.run()
  }

  /** To be called when something is heard that a record may wait for. */
  wake(): void {
    this.#isNews = true
    this.#onNews()
  }

  /** Begins to resolve what is pending, unless that is under way. */
  run(): void {
    const { contact, losses, isReadOnly, signal } = this.#options
    if (isReadOnly) return
    this.#running ??= this.#untilReady().finally(() => {
      this.#running = undefined
      // Something may have gone wrong just after all was well.
      const isOver = !contact.isAway && this.#pending.size === 0 && losses.hasSaid(false)
      if (!isOver && !signal.aborted) this.run()
    })
  }

  /** Resolves when the loop has ended, after the signal. */
  async ended(): Promise<void> {
    await this.#running
  }

  async #untilReady(): Promise<void> {
    const { engine, contact, losses, retryAfter, signal, onStatus } = this.#options
    const stopping = (): boolean => signal.aborted
    for (let tries = 0; !stopping(); tries++) {
      try {
        if (tries > 0 || contact.isAway)
          await pause(retryAfter * (tries === 0 ? 0.1 : 1), undefined, { signal }).catch(() => undefined)
        if (stopping()) return
        await engine.fence()
        contact.heard()
        // Nothing may be given that the list would show to be reserved for, or kept by, another holder.
        if (!contact.hasListed) throw new EngineAway(contact.trouble ?? 'its records were not heard yet')
        const isSure = this.#options.isSure()
        await this.#resolveAll()
        if (!isSure) {
          if (contact.comeBack()) onStatus()
          // It may have become so meanwhile.
          if (!this.#options.isSure()) await this.#newsOfWaiting(waitingPauses * retryAfter)
          continue
        }
        if (this.#pending.size > this.#waiting.size) continue
        const owes = this.#waiting.size > 0 || losses.mustTakeUp()
        if (!losses.hasSaid(owes)) await losses.report(owes)
        if (contact.comeBack()) onStatus()
        if (!owes) return
        await this.#newsOfWaiting(waitingPauses * retryAfter)
      } catch (error) {
        if (stopping()) return
        const reason = error instanceof Error ? error : String(error)
        if (contact.isAway) contact.goAway(reason)
        else this.goAway(reason)
      }
    }
  }

  /** Resolves when something is heard that records wait for, and after so many milliseconds at the latest. */
  async #newsOfWaiting(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(resolve, milliseconds, undefined).unref()
    const { signal } = this.#options
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

  /** Nothing else is committed meanwhile, so that what is pending stays what it is. */
  async #resolveAll(): Promise<void> {
    const { commitsEnded, isLossNoted } = this.#options
    const gate = Promise.withResolvers<undefined>()
    this.#gate = gate.promise
    try {
      await commitsEnded()
      if (!(await isLossNoted())) throw new EngineAway('the journal does not take what is pending')
      this.#isNews = false
      const queue = [...this.#pending.values()].filter(write => this.#mayResolve(write))
      const refused: Problem[] = []
      const work = (): Promise<void> => this.#resolveFrom(queue, refused)
      const outcomes = await Promise.allSettled(Array.from({ length: resolvedAtOnce }, work))
      const failed = outcomes.find(outcome => outcome.status === 'rejected')
      if (failed) throw failed.reason
      if (refused[0]) throw refused[0]
    } finally {
      this.#gate = undefined
      gate.resolve(undefined)
    }
  }

  async #resolveFrom(queue: UnresolvedWrite[], refused: Problem[]): Promise<void> {
    for (let write = queue.shift(); write; write = queue.shift()) {
      const id = recordId(write)
      this.#resolving.add(id)
      try {
        await this.#resolve(write)
      } catch (error) {
        // One that the engine refuses must not keep it from the others.
        if (error instanceof Problem) refused.push(error)
        else {
          queue.length = 0
          throw error
        }
      } finally {
        this.#resolving.delete(id)
        this.#options.known.unstash(id)
        this.#onLooked()
      }
    }
  }

  async #resolve(write: UnresolvedWrite): Promise<void> {
    const { indeterminate, isOwn, known, losses } = this.#options
    for (;;) {
      const lossesBefore = losses.count
      const present = await known.ask(write)
      const what = resolutionOf(write, present?.text ?? null, {
        isOwn,
        userIs: text => losses.userIs(write.kind, text),
      })
      // An earlier commit of this node's is no other node's change: the write is judged by what was there before it.
      const late = what === 'overruled' && indeterminate.pendingAfter(write, present?.text ?? null)
      if (late) {
        await this.#takeBack(late, present?.revision ?? null)
        continue
      }
      if (what === 'wait') {
        this.#waiting.add(recordId(write))
        return
      }
      this.#waiting.delete(recordId(write))
      if (what === 'done') write.revision = present?.revision ?? null
      if (what === 'write' || what === 'follow') {
        const before = write.want
        write.want = await this.#stillTrue(write)
        if (what === 'follow' || this.#mayBeMistaken(write))
          write.want = following(write.want, present?.text ?? null)
        write.isAmended ||= write.want !== before
        const user = write.again && write.want !== null ? userOf(write.kind, write.want) : undefined
        if (user !== undefined) await losses.sign(user)
        if (!(await this.#writes(write, present?.revision ?? null))) continue
      }
      const isClosed = await this.#close(write, { isOverruled: what === 'overruled', lossesBefore })
      if (isClosed && what === 'overruled') this.#options.onOverruled(write, present?.text ?? null)
      else if (isClosed && write.isAmended) this.#options.onAmended(write)
      return
    }
  }

  /**
   * Whether a write that goes back to a former text would be taken for a late commit, by the node that once tried to write that: it
   * would bring back what is undone here, and so on for ever. What is told again after a loss goes back to nothing.
   */
  #mayBeMistaken({ kind, again }: PendingWrite): boolean {
    return !this.#options.engine.fences && !again && kind !== 'node'
  }

  /**
   * What is to be written. A holder that goes back to a former sandbox goes back without what that has let go since: its DEL
   * saw that the holder had moved on, and left it alone.
   */
  async #stillTrue({ kind, want }: PendingWrite): Promise<string | null> {
    if (kind !== 'holder' || want === null) return want
    const record = JSON.parse(want) as HolderRecord
    const { attachment, leases } = record
    if (!attachment) return want
    const own: LeaseKey[] = []
    for (const lease of leases) {
      const name = { kind: 'lease', key: leaseKey(lease) } as const
      const pending = this.#pending.get(recordId(name))
      const text = pending ? pending.want : (await this.#options.known.ask(name))?.text
      const present = text ? (JSON.parse(text) as LeaseRecord).attachment : null
      if (sameAttachment(present, attachment)) own.push(lease)
    }
    if (own.length === leases.length) return want
    return own.length === 0 ? null : JSON.stringify({ ...record, leases: own })
  }

  /** Unless it has been changed since it was read: then it is read again. */
  async #takeBack(late: PendingWrite, base: number | null): Promise<void> {
    const { kind, key } = late
    const text = await this.#stillTrue(late)
    try {
      const [revision = null] = await this.#options.engine.commit([{ kind, key, base, text }])
      this.#options.known.set(late, text, revision)
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error
    }
  }

  /** Whether the record was as it was read. */
  async #writes(write: UnresolvedWrite, base: number | null): Promise<boolean> {
    const { engine, journal, known } = this.#options
    const { kind, key, want } = write
    // Should the answer be lost, and the record change here again, then the engine may have what is wanted now.
    if (!write.expected.includes(want)) {
      const expected = [...write.expected, want]
      await journal.commit([], [], [pendingNote({ ...write, expected })])
      write.expected = expected
    }
    try {
      const [revision = null] = await engine.commit([{ kind, key, base, text: want }])
      write.revision = revision
      known.set(write, want, revision)
      return true
    } catch (error) {
      if (error instanceof StoreConflict) return false
      throw error
    }
  }

  /**
   * Forgets a write that is resolved. Gives false when the engine has lost records since: the write may be among them, so that
   * it stays pending. Whoever finds a loss notes what is pending, after what is noted here.
   */
  async #close(
    write: UnresolvedWrite,
    { isOverruled, lossesBefore }: { readonly isOverruled: boolean; readonly lossesBefore: number },
  ): Promise<boolean> {
    const { engine, journal, copies, ended, indeterminate, isOwn, losses } = this.#options
    if (lossesBefore !== losses.count) return false
    const { want, revision = null } = write
    const late = engine.fences ? [] : indeterminate.resolved(write)
    const record = want === null ? null : (JSON.parse(want) as object)
    // What has ended here has ended whatever the engine has; else its copy would be told again after a loss.
    const isInUse = record !== null && copies.isOfUseHere(write.kind, record)
    const copied = isOverruled && isInUse ? [] : copies.written(write, record, revision)
    // Whoever took one over may give it back, and knows nothing of its end.
    const neverAdded = triedFor(write, isOwn).filter(key => !journal.mayHaveAttachment(key))
    await journal.commit([], [], [forgetNote(write), ...copied, ...late, ...ended.refused(neverAdded)])
    if (lossesBefore !== losses.count) return false
    this.#pending.delete(recordId(write))
    return true
  }
}

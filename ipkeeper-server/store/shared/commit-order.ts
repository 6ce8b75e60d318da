import type { Write } from '../../ipam/records/records.ts'
import { StoreConflict } from '../lease-store.ts'
import type { SharedRecordName, SharedKind } from './engine.ts'
import type { KnownRecords } from './known-records.ts'
import type { UnresolvedWrite } from './resolver.ts'
import { recordId } from '../../ipam/records/records.ts'

/** A write of a record that nodes share. */
export type SharedWrite = Extract<Write, { kind: SharedKind }>

/** With the revision that the engine is to compare; null: the record is not there. */
export type BasedWrite = SharedWrite & { readonly base: number | null }

/** By record ID: the revision that it has after a commit; null: it is gone, or the engine does not have it yet. */
export type Revisions = ReadonlyMap<string, number | null>

interface CommitUnderWay {
  readonly ended: Promise<unknown>
  /** By record: the generation that it is to have then; null where it is to go. */
  readonly generations: ReadonlyMap<string, number | null>
  /** Of what it wrote, once it is done. undefined: it failed, or is under way. */
  revisions?: Revisions
}

/** What a write is based on; resolves to the revision to compare, undefined when that record is not there any more. */
type Basis = () => number | null | undefined

export interface CommitOrderOptions {
  readonly known: KnownRecords
  readonly pending: (id: string) => UnresolvedWrite | undefined
  /** What to wait for before these records may be compared with what the engine has; undefined when they may be now. */
  readonly obstacle: (ids: readonly string[]) => Promise<unknown> | undefined
  /** Throws when the store is closed. */
  readonly assertOpen: () => void
}

export interface Ordered {
  readonly work: (writes: readonly BasedWrite[]) => Promise<Revisions>
  /** Called before any later commit of these records goes on. */
  readonly onFailure: () => void
}

/** undefined for a record that was written by hand. */
const generationOf = (text: string): number | undefined =>
  (JSON.parse(text) as { readonly generation?: number }).generation

/** Commits of the same record, one after the other: each is based on what the one before it has written. */
export class CommitOrder {
  readonly #options: CommitOrderOptions
  /** The last commit under way of each record. */
  readonly #tails = new Map<string, CommitUnderWay>()
  /** Commits that nothing bars any more. */
  readonly #working = new Set<Promise<unknown>>()

  constructor(options: CommitOrderOptions) {
    this.#options = options
  }

  isUnderWay(id: string): boolean {
    return this.#tails.has(id)
  }

  /** Resolves when all commits have ended that nothing bars any more. */
  ended(): Promise<unknown> {
    return Promise.allSettled(this.#working)
  }

  /**
   * Does the work when its turn has come.
   *
   * @throws StoreConflict when a record is not of the generation that is expected, or whatever the work rejects with
   */
  async inOrder(writes: readonly SharedWrite[], { work, onFailure }: Ordered): Promise<void> {
    const bases = writes.map(write => this.#basisOf(write))
    const stale = writes.find((_, index) => bases[index] === undefined)
    if (stale) throw new StoreConflict(stale.kind, stale.key)
    const ids = writes.map(recordId)
    const before = new Set(ids.flatMap(id => this.#tails.get(id) ?? []))
    const ended = Promise.withResolvers<undefined>()
    const generations = new Map(writes.map(write => [recordId(write), write.record?.generation ?? null]))
    const own: CommitUnderWay = { ended: ended.promise, generations }
    for (const id of ids) this.#tails.set(id, own)
    try {
      await Promise.all(Array.from(before, ({ ended: other }) => other))
      // Nothing is awaited between the last look and `#counted`: whoever bars the way then waits for this commit.
      for (let obstacle = this.#obstacle(ids); obstacle; obstacle = this.#obstacle(ids)) await obstacle
      this.#options.assertOpen()
      const revisions = bases.map(basis => basis?.())
      const gone = writes.find((_, index) => revisions[index] === undefined)
      if (gone) throw new StoreConflict(gone.kind, gone.key)
      own.revisions = await this.#counted(
        work(writes.map((write, index) => ({ ...write, base: revisions[index] ?? null }))),
      )
    } catch (error) {
      onFailure()
      throw error
    } finally {
      for (const id of ids) {
        if (this.#tails.get(id) === own) this.#tails.delete(id)
        this.#options.known.unstash(id)
      }
      ended.resolve(undefined)
    }
  }

  #obstacle(ids: readonly string[]): Promise<unknown> | undefined {
    return this.#options.obstacle(ids)
  }

  async #counted<T>(work: Promise<T>): Promise<T> {
    this.#working.add(work)
    try {
      return await work
    } finally {
      this.#working.delete(work)
    }
  }

  /** undefined when the record is not of the generation that is expected. */
  #basisOf({ kind, key, expect }: SharedWrite): Basis | undefined {
    const id = recordId({ kind, key })
    const earlier = this.#tails.get(id)
    if (!earlier) return this.#presentBasis({ kind, key }, expect)
    const buildsOnIt = earlier.generations.get(id) === expect
    return () => {
      if (buildsOnIt) return earlier.revisions?.get(id)
      return earlier.revisions ? undefined : this.#presentBasis({ kind, key }, expect)?.()
    }
  }

  #presentBasis(name: SharedRecordName, expect: number | null): Basis | undefined {
    const { known, pending } = this.#options
    const id = recordId(name)
    const unresolved = pending(id)
    const text = unresolved ? unresolved.want : (known.get(name)?.text ?? null)
    if ((text === null ? null : generationOf(text)) !== expect) return undefined
    // When the engine has come back meanwhile, it has what was pending, or something else by now.
    if (unresolved) return () => (pending(id) === unresolved ? null : unresolved.revision)
    const revision = known.get(name)?.revision ?? null
    return () => revision
  }
}

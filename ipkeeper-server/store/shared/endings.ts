import { randomBytes } from 'node:crypto'
import {
  leaseKey,
  sameAttachment,
  type HolderRecord,
  type LeaseRecord,
  recordId,
} from '../../ipam/records/records.ts'
import type { Engine, SharedRecordName, EngineRecord, EngineWrite } from './engine.ts'
import type { KnownRecords } from './known-records.ts'
import type { IsHere } from './pending-write.ts'

/** Traces that are taken away in one commit. */
const atOnce = 50

/**
 * What another machine has ended or taken over: while that node is away, its address may be given anew, and go again. A trace of
 * it stands in the engine until the node has seen it, so that it does not take the missing lease for one that the engine has
 * lost. Written in the transaction that ends the lease.
 */
export interface Ending {
  /** Who had the address. */
  readonly node: string
  readonly segment: string
  readonly address: string
  /** Of the lease, as it was. */
  readonly generation: number
  /** Node that ended it. */
  readonly by: string
  readonly since: number
}

/**
 * The trace that a write of a lease leaves; undefined where nobody else's sandbox loses anything by it.
 *
 * @param before the lease as the engine has it
 * @param isHere whether a sandbox is of this machine
 * @param id of this write, and of no other one
 */
function endingOf(
  before: LeaseRecord | undefined,
  after: LeaseRecord | null,
  isHere: IsHere,
  { id, by, since }: { readonly id: string; readonly by: string; readonly since: number },
): EngineWrite | undefined {
  if (!before?.attachment || isHere(before.node, before.attachment)) return undefined
  if (after?.node === before.node && sameAttachment(after.attachment, before.attachment)) return undefined
  const { node, segment, address, generation } = before
  const ending: Ending = { node, segment, address, generation, by, since }
  // Each is a record of its own, which nobody else writes.
  const key = JSON.stringify([node, segment, address, id])
  return { kind: 'ending', key, base: null, text: JSON.stringify(ending) }
}

/** Of this node's leases, those that somebody else has ended: by the ID of their records, the newest generation of each. */
export function endedElsewhere(
  records: Iterable<EngineRecord>,
  isOwn: (node: string) => boolean,
): ReadonlyMap<string, number> {
  const ended = new Map<string, number>()
  for (const { kind, text } of records) {
    if (kind !== 'ending') continue
    const ending = JSON.parse(text) as Ending
    const id = recordId({ kind: 'lease', key: leaseKey(ending) })
    if (isOwn(ending.node)) ended.set(id, Math.max(ending.generation, ended.get(id) ?? 0))
  }
  return ended
}

/** Copies of what is bound here, but for what somebody else has ended. */
export function notEnded(
  copies: readonly EngineRecord[],
  ended: ReadonlyMap<string, number>,
): readonly EngineRecord[] {
  if (ended.size === 0) return copies
  const generations = new Map(
    copies
      .filter(({ kind }) => kind === 'lease')
      .map(copy => [recordId(copy), (JSON.parse(copy.text) as LeaseRecord).generation]),
  )
  const isEnded = (id: string): boolean => (ended.get(id) ?? -1) >= (generations.get(id) ?? 0)
  return copies.filter(copy => {
    if (copy.kind === 'lease') return !isEnded(recordId(copy))
    if (copy.kind !== 'holder') return true
    const { leases } = JSON.parse(copy.text) as HolderRecord
    return !leases.every(lease => isEnded(recordId({ kind: 'lease', key: leaseKey(lease) })))
  })
}

export interface EndingsOptions {
  readonly engine: Engine
  readonly known: KnownRecords
  /** Whether a name is this node's. */
  readonly isOwn: (node: string) => boolean
  /** Whether no other machine has ever had that name. */
  readonly isOwnAlone: (node: string) => boolean
  readonly isHere: IsHere
}

/** The traces that this run of a daemon leaves, and those that it takes away. */
export class Endings {
  readonly #options: EndingsOptions
  readonly #author = randomBytes(6).toString('hex')
  #left = 0
  #forgetting = false

  constructor(options: EndingsOptions) {
    this.#options = options
  }

  /** What is to be written with a change of a lease. */
  of(lease: SharedRecordName, after: LeaseRecord | null, by: string, since: number): EngineWrite | undefined {
    const { engine, known, isHere } = this.#options
    const text = known.get(lease)?.text
    if (text === undefined || engine.ignores.includes('ending')) return undefined
    const id = `${this.#author}.${this.#left++}`
    return endingOf(JSON.parse(text) as LeaseRecord, after, isHere, { id, by, since })
  }

  /** By the ID of a lease of this node that somebody else has ended: its generation. */
  own(): ReadonlyMap<string, number> {
    return endedElsewhere(this.#options.known.of('ending'), this.#options.isOwn)
  }

  /** Whether somebody else has ended a lease of this node, by a change of a revision that counts. */
  hasEnded(id: string, counts: (revision: number) => boolean): boolean {
    const endings = Array.from(this.#options.known.of('ending')).filter(({ revision }) => counts(revision))
    return endedElsewhere(endings, this.#options.isOwn).has(id)
  }

  /**
   * Those of leases that the journal has no copy of any more, unless another machine that had the name may still have one. What fails is
   * tried with the next one, and at each start.
   */
  forget(hasCopy: (id: string) => boolean): void {
    if (this.#forgetting) return
    this.#forgetting = true
    void this.#forget(hasCopy)
      .catch(() => undefined)
      .finally(() => {
        this.#forgetting = false
      })
  }

  async #forget(hasCopy: (id: string) => boolean): Promise<void> {
    const { engine, known, isOwnAlone } = this.#options
    const seen = Array.from(known.of('ending')).filter(record =>
      [...endedElsewhere([record], isOwnAlone).keys()].some(id => !hasCopy(id)),
    )
    for (let from = 0; from < seen.length; from += atOnce) {
      const batch = seen.slice(from, from + atOnce)
      await engine.commit(batch.map(({ kind, key, revision }) => ({ kind, key, base: revision, text: null })))
      for (const ending of batch) known.set(ending, null, null)
    }
  }
}

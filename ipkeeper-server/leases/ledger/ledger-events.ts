import type {
  AttachmentKey,
  AttachmentRecord,
  LeaseRecord,
  RecordKind,
  RecordTypes,
} from '../../ipam/records/records.ts'
import { isKeptForOwner, isRouted } from './lease-indexes.ts'

type AnyRecord = RecordTypes[RecordKind]

/** A record that has changed: as it is now, or as it was where it is deleted. */
export type ChangedRecord = {
  readonly [K in RecordKind]: { readonly kind: K; readonly record: RecordTypes[K] }
}[RecordKind]

/** What a ledger says of itself, and what about it. */
export interface LedgerEvents {
  /** A record was changed, by this node or by another. */
  changed: [ChangedRecord]
  /** Another node, or the Kubernetes API, has changed a pool. */
  poolChangedElsewhere: []
  /** An address is kept until a moment, or while its owner exists. */
  kept: []
  /** An ADD is recorded whose answer is still to be confirmed. */
  unanswered: []
  /** A lease turns out to be bound on this node to an attachment that has no record here. */
  stray: [AttachmentKey]
  /** An address of a sandbox of this node was taken away by another node; the lease as it was before. */
  takenAway: [LeaseRecord]
  /** The record of a node, or where a routed lease is, has changed. */
  routing: []
  /** Entries of the history are durable. */
  recorded: []
  /** Changes are accepted again, since the records stand in a new file. */
  servingAgain: []
}

/**
 * Called in the middle of a change, when the records have it and before it is durable, unless said otherwise: a listener wakes something or notes what
 * it is told, and changes nothing then and there.
 */
export type LedgerListener = {
  readonly [E in keyof LedgerEvents]?: (...about: LedgerEvents[E]) => void
}

/** Who listens to a ledger. */
export class LedgerSubscribers {
  readonly #listeners = new Set<LedgerListener>()

  /** Gives what ends the subscription. */
  add(listener: LedgerListener): () => void {
    const own = { ...listener }
    this.#listeners.add(own)
    return () => {
      this.#listeners.delete(own)
    }
  }

  publish<E extends keyof LedgerEvents>(event: E, ...about: LedgerEvents[E]): void {
    for (const listener of this.#listeners) listener[event]?.(...about)
  }

  /** Publishes what follows from a record that was put in place of another; one of both is there. */
  publishChange(kind: RecordKind, before: AnyRecord | undefined, after: AnyRecord | undefined): void {
    const record = after ?? before
    if (!record) return
    this.publish('changed', { kind, record } as ChangedRecord)
    if (kind === 'node') this.publish('routing')
    if (kind === 'attachment' && after && (after as AttachmentRecord).unanswered) this.publish('unanswered')
    if (kind !== 'lease') return
    const [had, has] = [before as LeaseRecord | undefined, after as LeaseRecord | undefined]
    if (has && (has.until !== null || isKeptForOwner(has))) this.publish('kept')
    if ((had && isRouted(had)) || (has && isRouted(has))) this.publish('routing')
  }
}

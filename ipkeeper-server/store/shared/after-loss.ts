import {
  leaseKey,
  type AttachmentKey,
  type HolderRecord,
  type LeaseKey,
  type LeaseRecord,
  recordId,
} from '../../ipam/records/records.ts'
import type { EngineRecord } from './engine.ts'
import type { PendingWrite } from './pending-write.ts'

export interface LostRecords {
  /** What the journal has copies of. */
  readonly copies: readonly EngineRecord[]
  /** All that the engine has. */
  readonly records: Iterable<EngineRecord>
  /** Whether this sandbox, that a record of the engine says to be on this node, has ended if the journal does not know it. */
  readonly hasEnded: (node: string, attachment: AttachmentKey) => boolean
  /** A commit is under way for it, which finds out by itself. */
  readonly isBusy: (id: string) => boolean
  /** What becomes of a lease whose pod has ended. */
  readonly released: (lease: LeaseRecord) => LeaseRecord
}

/**
 * What a node writes to an engine that has lost records: what is bound on the node by its journal; and that what the engine says
 * to be bound there, and the journal does not know, has ended since.
 */
export function writesAfterLoss(lost: LostRecords): readonly PendingWrite[] {
  const { copies, records, hasEnded, isBusy, released } = lost
  const pending: PendingWrite[] = []
  const held = new Set<string>()
  for (const { kind, key, text } of copies) {
    const id = recordId({ kind, key })
    held.add(id)
    // Pools that people made are theirs to restore; those of a configuration come from there, and of ranges with the next ADD.
    if (kind !== 'pool' && !isBusy(id)) pending.push({ kind, key, expected: [text], want: text, again: true })
  }
  const ended = new Map<string, LeaseRecord>()
  const isKept = (lease: LeaseKey): boolean => ended.get(leaseKey(lease))?.state === 'held'
  const holders: (readonly [key: string, text: string])[] = []
  for (const { kind, key, text } of records) {
    const id = recordId({ kind, key })
    if (held.has(id) || isBusy(id)) continue
    if (kind === 'holder') holders.push([key, text])
    if (kind !== 'lease') continue
    const lease = JSON.parse(text) as LeaseRecord
    if (!lease.attachment || !hasEnded(lease.node, lease.attachment)) continue
    const after = released(lease)
    ended.set(key, after)
    pending.push({ kind, key, expected: [text], want: JSON.stringify(after), again: true })
  }
  for (const [key, text] of holders) {
    const holder = JSON.parse(text) as HolderRecord
    if (!holder.sandbox || !holder.attachment || !hasEnded(holder.sandbox.node, holder.attachment)) continue
    pending.push(endOf({ kind: 'holder', key, text }, released, isKept))
  }
  return pending
}

/** null: nothing is kept for the holder. */
function withoutSandbox(
  { generation, holder, leases }: HolderRecord,
  isKept: (lease: LeaseKey) => boolean,
): string | null {
  const kept = leases.filter(isKept)
  if (kept.length === 0) return null
  return JSON.stringify({ generation: generation + 1, holder, attachment: null, leases: kept })
}

/**
 * What becomes of a record that a sandbox has ended which the engine says to have it in use.
 *
 * @param isKept whether a lease of a holder is kept for it by now
 */
export function endOf(
  { kind, key, text }: Pick<EngineRecord, 'key' | 'text'> & { readonly kind: 'lease' | 'holder' },
  released: LostRecords['released'],
  isKept: (lease: LeaseKey) => boolean,
): PendingWrite {
  const want =
    kind === 'lease'
      ? JSON.stringify(released(JSON.parse(text) as LeaseRecord))
      : withoutSandbox(JSON.parse(text) as HolderRecord, isKept)
  return { kind, key, expected: [text], want, again: true }
}

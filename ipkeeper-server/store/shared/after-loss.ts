import { leaseKey, type HolderRecord, type LeaseRecord } from '../../ipam/records/records.ts'
import { recordId, type EngineRecord } from './engine.ts'
import type { PendingWrite } from './pending-write.ts'

export interface LostRecords {
  /** What the journal has copies of. */
  readonly copies: readonly EngineRecord[]
  /** All that the engine has. */
  readonly records: Iterable<EngineRecord>
  readonly isOwn: (node: string) => boolean
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
  const { copies, records, isOwn, isBusy, released } = lost
  const pending: PendingWrite[] = []
  const held = new Set<string>()
  for (const { kind, key, text } of copies) {
    const id = recordId({ kind, key })
    held.add(id)
    // Pools that people made are theirs to restore; those of a configuration come from there, and of ranges with the next ADD.
    if (kind !== 'pool' && !isBusy(id)) pending.push({ kind, key, expected: [text], want: text, again: true })
  }
  const ended = new Map<string, LeaseRecord>()
  const holders: (readonly [key: string, text: string])[] = []
  for (const { kind, key, text } of records) {
    const id = recordId({ kind, key })
    if (held.has(id) || isBusy(id)) continue
    if (kind === 'holder') holders.push([key, text])
    if (kind !== 'lease') continue
    const lease = JSON.parse(text) as LeaseRecord
    if (lease.state !== 'bound' || !isOwn(lease.node)) continue
    const after = released(lease)
    ended.set(key, after)
    pending.push({ kind, key, expected: [text], want: JSON.stringify(after), again: true })
  }
  for (const [key, text] of holders) {
    const holder = JSON.parse(text) as HolderRecord
    if (!holder.sandbox || !isOwn(holder.sandbox.node)) continue
    const want = withoutSandbox(holder, ended)
    pending.push({ kind: 'holder', key, expected: [text], want: want && JSON.stringify(want), again: true })
  }
  return pending
}

/** null: nothing is kept for the holder. */
function withoutSandbox(
  { generation, holder, leases }: HolderRecord,
  ended: ReadonlyMap<string, LeaseRecord>,
): HolderRecord | null {
  const kept = leases.filter(lease => ended.get(leaseKey(lease))?.state === 'held')
  return kept.length === 0 ? null : { generation: generation + 1, holder, attachment: null, leases: kept }
}

import { holderKey, type HolderRecord, type LeaseRecord } from '../../ipam/records.ts'
import type { SharedKind } from './engine.ts'
import { sameRecord } from './same-record.ts'

/**
 * A record that the engine is still to be told of, because it was away when the record changed here, or because nobody
 * can tell whether it has carried out a change that was refused here.
 */
export interface OwedRecord {
  readonly kind: SharedKind
  readonly key: string
  /** What the engine may have: anything else is somebody else's later change, and stands. null: nothing. */
  readonly expected: readonly (string | null)[]
  /** What it is to have. */
  readonly want: string | null
}

/** What is to be done about an owed record, by what the engine has now. */
export function settlement(
  { expected, want }: OwedRecord,
  present: string | null,
): 'done' | 'write' | 'theirs' {
  if (sameRecord(present, want)) return 'done'
  return expected.some(text => sameRecord(present, text)) ? 'write' : 'theirs'
}

/** One after the other: what the engine may have stays, what it is to have is the newer. */
export function owedAfter(before: OwedRecord | undefined, next: OwedRecord): OwedRecord {
  return before ? { ...next, expected: before.expected } : next
}

/** Whether this lease of the engine is bound to this holder on this node: then nobody else can get it meanwhile. */
function isBoundHere(lease: LeaseRecord, holder: LeaseRecord['holder'], node: string): boolean {
  return lease.state === 'bound' && lease.node === node && holderKey(lease.holder) === holderKey(holder)
}

function leaseMayChange(base: LeaseRecord, after: LeaseRecord | null, node: string): boolean {
  if (after?.state === 'bound') return after.node === node && isBoundHere(base, after.holder, node)
  // Giving up what was had here, or what nobody has.
  return base.node === node || base.state === 'cooling'
}

/**
 * Whether a record may be changed while the engine is away, so that whatever other nodes do meanwhile no address gets two
 * holders: what is bound here to a pod may go on being bound to it, in a newer sandbox, and may be given up. Nothing is
 * taken. When the engine is back, the change is made only if nobody made another one.
 *
 * @param expected what the engine may have
 */
export function mayChangeAlone(
  kind: SharedKind,
  expected: readonly (string | null)[],
  after: object | null,
  node: string,
): boolean {
  return expected.every(text => {
    // A refused ADD: the engine may not have it, and then there is nothing to give up.
    if (text === null) return after === null
    switch (kind) {
      case 'lease':
        return leaseMayChange(JSON.parse(text) as LeaseRecord, after as LeaseRecord | null, node)
      case 'holder': {
        const { sandbox } = JSON.parse(text) as HolderRecord
        return sandbox === undefined || sandbox.node === node
      }
      default:
        return false
    }
  })
}

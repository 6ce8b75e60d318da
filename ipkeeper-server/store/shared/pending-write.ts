import { holderKey, type HolderRecord, type LeaseRecord } from '../../ipam/records/records.ts'
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
  /**
   * The engine has lost records since (tell-again.ts): whatever it has instead was written earlier, unless it is in use on
   * another node that has told again what it holds.
   */
  again?: true
}

/**
 * What is to be done about an owed record, by what the engine has now. wait: for the node that the engine has it in use on.
 *
 * @param userIs of an engine that has lost records: how it stands with the node that has it in use, if any other than this one.
 *   told: what it has is there again. awaited: it may not be in use there any more.
 */
export function settlement(
  { expected, want, again }: OwedRecord,
  present: string | null,
  userIs: (text: string) => 'none' | 'told' | 'awaited',
): 'done' | 'write' | 'theirs' | 'wait' {
  if (sameRecord(present, want)) return 'done'
  if (expected.some(text => sameRecord(present, text))) return 'write'
  if (!again) return 'theirs'
  const user = present === null ? 'none' : userIs(present)
  return user === 'none' ? 'write' : user === 'told' ? 'theirs' : 'wait'
}

/** One after the other: what the engine may have stays, what it is to have is the newer. */
export function owedAfter(before: OwedRecord | undefined, next: OwedRecord): OwedRecord {
  if (!before) return next
  return { ...next, expected: before.expected, ...(before.again && { again: true }) }
}

/** Whether a name is this node's. */
export type IsOwnName = (name: string) => boolean

/** Whether this lease of the engine is bound to this holder on this node: then nobody else can get it meanwhile. */
function isBoundHere(lease: LeaseRecord, holder: LeaseRecord['holder'], isOwn: IsOwnName): boolean {
  return lease.state === 'bound' && isOwn(lease.node) && holderKey(lease.holder) === holderKey(holder)
}

function leaseMayChange(base: LeaseRecord, after: LeaseRecord | null, isOwn: IsOwnName): boolean {
  if (after?.state === 'bound') return isOwn(after.node) && isBoundHere(base, after.holder, isOwn)
  // Giving up what was had here, or what nobody has.
  return isOwn(base.node) || base.state === 'cooling'
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
  isOwn: IsOwnName,
): boolean {
  return expected.every(text => {
    // A refused ADD: the engine may not have it, and then there is nothing to give up.
    if (text === null) return after === null
    switch (kind) {
      case 'lease':
        return leaseMayChange(JSON.parse(text) as LeaseRecord, after as LeaseRecord | null, isOwn)
      case 'holder': {
        const { sandbox } = JSON.parse(text) as HolderRecord
        return sandbox === undefined || isOwn(sandbox.node)
      }
      default:
        return false
    }
  })
}

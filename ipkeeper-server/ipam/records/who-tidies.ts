import type { LeaseRecord } from './records.ts'

/**
 * Which of the nodes that share a ledger deletes the record of a kept or resting address whose time is over. Every node
 * may give the address from then on, with the record or without; two that delete it meet, and one of them has worked for
 * nothing.
 */

/** Milliseconds after its time for which a record is left to the node that let the address go. */
export const leftToItsNode = 300_000

export interface Tidier {
  /** This node. */
  readonly node: string
  /** Whether this daemon does what one does for all; undefined where nobody is elected: then each one does it. */
  readonly elected: boolean | undefined
  readonly isGone: (node: string) => boolean
}

/** @param now milliseconds since the epoch */
export function tidiesUp(
  { node, elected, isGone }: Tidier,
  lease: Pick<LeaseRecord, 'node' | 'until'>,
  now: number,
): boolean {
  if (lease.node === node) return true
  if (elected === false) return false
  const late = lease.until !== null && now - lease.until >= leftToItsNode
  return late || (elected === true && isGone(lease.node))
}

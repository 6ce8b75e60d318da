import { holderKey, type Holder } from '../../ipam/records/records.ts'
import type { LeaseService } from './service.ts'

/**
 * Runs what changes the wiring of a holder, one after the other: two sandboxes of one pod have the same addresses, the
 * second from the first, and must not meet in the kernel. To be called in the turn of the attachment, never around it, so
 * that nobody waits in a circle.
 */
export async function inTurnOfHolder<T>(
  { serial }: LeaseService,
  holder: Holder,
  task: () => Promise<T>,
): Promise<T> {
  return await serial.run(`holder ${holderKey(holder)}`, task)
}

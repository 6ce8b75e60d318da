import { Problem } from '../../../shared/problem/problem.ts'
import type { EndedBy } from '../../ipam/records/history-entry.ts'
import type { Change, Holder } from '../../ipam/records/records.ts'
import type { Ledger } from './ledger.ts'

/**
 * How often a plan is made, when somebody else changed the records meanwhile. Somebody got what he wanted each time, so that
 * the nodes that want the last addresses of a pool may need as many as they are.
 */
export const mostAttempts = 32

/**
 * Plans against the present ledger and commits; plans again on a conflict, and on nothing else. A plan is made and handed
 * in without giving the event loop back, so that within one daemon conflicts come only from refused commits.
 *
 * @param holder whose addresses the plan decides on
 */
export async function commitPlan<T extends { readonly change: Change; readonly by?: EndedBy | undefined }>(
  ledger: Ledger,
  plan: () => T,
  holder?: Holder,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    await ledger.settle(holder)
    const made = plan()
    try {
      await ledger.commit(made.change, made.by)
      return made
    } catch (error) {
      const conflict = error instanceof Problem && error.code === 'IPK_STORE_CONFLICT'
      if (!conflict || attempt === mostAttempts) throw error
    }
  }
}

import type { Problem } from '../../shared/problem/problem.ts'
import type { PodEvent } from './event-series.ts'

/** "IPK_POOL_FULL" as the reason of an Event: "PoolFull". */
function reasonOf(code: string): string {
  return code
    .split('_')
    .slice(1)
    .map(word => word.slice(0, 1) + word.slice(1).toLowerCase())
    .join('')
}

/** What a pod is told of its ADD. */
export function outcomeEvent(
  outcome:
    | { readonly addresses: readonly string[]; readonly reasons: readonly string[] }
    | { readonly problem: Problem },
): PodEvent {
  if ('problem' in outcome) {
    const { code, message, details, hint } = outcome.problem
    const more = [details, hint].filter(part => part !== '').join('; ')
    return {
      type: 'Warning',
      reason: reasonOf(code),
      action: 'AssignAddress',
      message: `${message}; ${more}`,
    }
  }
  const { addresses, reasons } = outcome
  return {
    type: 'Normal',
    reason: 'AddressAssigned',
    action: 'AssignAddress',
    message: `${addresses.join(', ')} (${reasons.join('; ')})`,
  }
}

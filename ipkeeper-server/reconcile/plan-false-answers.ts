import { incarnationOf } from '../ipam/records/records.ts'
import type { NodeSnapshot } from './plan-snapshot.ts'
import { aboutAttachment, describeAttachment, type Suspicion } from './plan-suspicion.ts'

/** Pods that answer for what is not theirs. Only a person can tell whether they mean harm. */
export function suspectAnswers({ attachments, falseAnswers = [] }: NodeSnapshot): readonly Suspicion[] {
  const present = new Map(attachments.map(seen => [incarnationOf(seen.record), seen]))
  return falseAnswers.flatMap(({ attachment, addresses, times }) => {
    const seen = present.get(incarnationOf(attachment))
    if (!seen) return []
    const { holder } = attachment
    const often = times === 1 ? '' : `, and ${times - 1} ${times === 2 ? 'time' : 'times'} before`
    return [
      {
        kind: 'false-answer',
        key: `answers ${incarnationOf(attachment)}`,
        says: `${describeAttachment(attachment)} answered for ${addresses.join(', ')}${often}, which it was not given`,
        why: 'nobody believed it when an address was to be given, but its neighbours do',
        remedy:
          holder.kind === 'pod'
            ? `see what it runs (proxy ARP, a virtual address, a forger), or end it: kubectl delete pod -n ${holder.namespace} ${holder.name}`
            : 'see what it runs (proxy ARP, a virtual address, a forger), or end it',
        about: aboutAttachment(attachment, seen.leases),
        action: { kind: 'none' },
        certainty: { by: 'proof', age: Number.MAX_SAFE_INTEGER },
      } as const,
    ]
  })
}

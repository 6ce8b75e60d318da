import type { LeaseItem } from '../../../shared/api/listing.schema.ts'

/** What the daemon says of a kept address of a container without a pod does not name the container. */
export function whoHas({ pod, containerId }: Pick<LeaseItem, 'pod' | 'containerId'>): string {
  if (pod) return `${pod.namespace}/${pod.name}`
  return containerId === null ? '-' : `container ${containerId.slice(0, 13)}`
}

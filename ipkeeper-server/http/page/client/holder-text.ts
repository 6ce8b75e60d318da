import type { LeaseItem, ReservationItem } from '../../../../shared/api/listing.schema.ts'

/** "shop/web-0", or "container 3f2a91c0d1e2" where there is no pod. */
export function holderText({ pod, containerId }: Pick<LeaseItem, 'pod' | 'containerId'>): string {
  if (pod) return `${pod.namespace}/${pod.name}`
  return containerId === null ? 'nobody' : `container ${containerId.slice(0, 13)}`
}

export function reservationText({ owner, note }: Pick<ReservationItem, 'owner' | 'note'>): string {
  return note === '' ? owner : `${owner} (${note})`
}

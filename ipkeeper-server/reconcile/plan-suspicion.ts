import type { FindingKind } from '../../shared/findings.ts'
import { describeHolder, type AttachmentRecord, type LeaseRecord } from '../ipam/records/records.ts'
import type { SeenVeth } from './plan-snapshot.ts'

/** What one look makes suspicious. It becomes a finding when it is old enough and was seen often enough. */
export interface Suspicion {
  readonly kind: FindingKind
  /** The same for the same thing in the next pass. */
  readonly key: string
  /** One line. */
  readonly says: string
  readonly why: string
  /** What a person can do; '' where the daemon sees to it. */
  readonly remedy: string
  readonly about: About
  readonly action: Action
  readonly certainty: Certainty
}

export interface About {
  readonly address?: string
  readonly pod?: string
  readonly podUid?: string
  readonly network?: string
  readonly containerId?: string
  readonly ifname?: string
  readonly link?: string
}

export type Action =
  | {
      readonly kind: 'end-attachment'
      readonly attachment: AttachmentRecord
      /** Whether it is by its death: then it has to be dead still when it is ended. */
      readonly proved: boolean
    }
  | { readonly kind: 'remove-link'; readonly link: SeenVeth }
  | { readonly kind: 'none' }

/**
 * proved: it is so now, and only has to be old enough (minAge). absence: somebody does not tell of it, which has to be so
 * for several passes, and longer (minAgeUnproved).
 */
export interface Certainty {
  readonly by: 'proof' | 'absence'
  /** Milliseconds; undefined: since it was first suspected. */
  readonly age?: number
}

/** "shop/web-0 (container 3f2a..., eth0 of fixed)". */
export function describeAttachment({ holder, containerId, ifname, network }: AttachmentRecord): string {
  const sandbox = `${ifname} of ${network}`
  return holder.kind === 'pod'
    ? `${describeHolder(holder)} (container ${containerId.slice(0, 13)}, ${sandbox})`
    : `${describeHolder(holder)} (${sandbox})`
}

export function aboutAttachment(
  { holder, podUid, containerId, ifname, network, wiring, given }: AttachmentRecord,
  leases: readonly LeaseRecord[],
): About {
  const addresses = given ?? leases.map(({ address, prefixLength }) => `${address}/${prefixLength}`)
  return {
    network,
    containerId,
    ifname,
    ...(addresses.length > 0 && { address: addresses.join(', ') }),
    ...(holder.kind === 'pod' && { pod: describeHolder(holder), ...(podUid !== null && { podUid }) }),
    ...(wiring?.hostLink && { link: wiring.hostLink.name }),
  }
}

import type { Filters } from '../../../shared/api/listing-query.schema.ts'
import { parseAddress } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { nearestWord } from '../../../shared/text/nearest-word.ts'
import { locateAddress } from '../../ipam/pools/pool-record.ts'
import type { StringMap } from '../../ipam/records/pod-facts.ts'
import type { Holder, LeaseRecord, ReservationRecord } from '../../ipam/records/records.ts'
import type { ClusterView } from '../../kubernetes/cluster-view.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { podOfHolder, type Listed } from './listing-filter.ts'

/** What records are judged by, in listings and in searches. */

/** What the daemon knows of the pods of its node. */
export type PodLabels = Pick<ClusterView, 'pod'>

export type LabelsOf = (holder: Holder) => StringMap | undefined

/** Labels by the holder of a record. Throws Problem IPK_REQUEST_INVALID. */
export function labelsFrom(cluster: PodLabels | undefined, { selector }: Filters): LabelsOf {
  if (selector !== undefined && !cluster)
    throw new Problem(
      'IPK_REQUEST_INVALID',
      'this daemon knows no labels of pods: it asks no Kubernetes API',
      {
        hint: 'choose by --namespace, --pod or --owner; see docs/guides/kubernetes.md',
      },
    )
  return holder =>
    holder.kind === 'pod'
      ? cluster?.pod({ namespace: holder.namespace, name: holder.name, uid: null })?.labels
      : undefined
}

export function listedLease(
  { holder, node, workload, state, pool }: LeaseRecord,
  labelsOf: LabelsOf,
): Listed {
  const labels = () => labelsOf(holder)
  return { ...podOfHolder(holder), node, owner: workload, state, pool: () => pool, labels }
}

/** What a listing of reservations knows; how their addresses stand it does not. */
export function listedReservation(ledger: Ledger, reservation: ReservationRecord): Listed {
  const { namespace, name, kind = 'Pod' } = reservation
  return {
    ...(kind !== 'external' && { namespace }),
    ...(kind === 'Pod' && { pod: name }),
    owner: { namespace, kind, name },
    pool: () => poolAt(ledger, reservation),
  }
}

/** A name with a slip in it would look like a pool that nobody uses. */
export function mustKnowPool(ledger: Ledger, name: string): void {
  const known = Array.from(ledger.pools(), pool => pool.name)
  if (known.includes(name)) return
  const meant = nearestWord(name, known)
  throw new Problem(
    'IPK_REQUEST_INVALID',
    `there is no pool ${name}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    { hint: 'a pool of a network appears with its first ADD; see: ipkeeperctl pools' },
  )
}

function poolAt(ledger: Ledger, { segment, address }: ReservationRecord): string | undefined {
  const parsed = parseAddress(address)
  const place = parsed && locateAddress(ledger, segment, parsed)
  return place && place.kind !== 'outside' ? place.pool : undefined
}

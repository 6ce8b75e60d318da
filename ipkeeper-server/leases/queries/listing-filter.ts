import type { Filters } from '../../../shared/api/listing-query.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { Holder, Workload } from '../../ipam/records/records.ts'
import type { StringMap } from '../../ipam/records/pod-facts.ts'
import { fullKind } from '../../ipam/records/reservation-owner.ts'
import { matchesSelector } from '../../ipam/pools/pool-rules.ts'
import type { LabelSelector } from '../../ipam/pools/pool-settings.ts'
import { parseSelector } from './label-selector.ts'

/** What a row of a listing is judged by; what it has not, no filter finds. */
export interface Listed {
  readonly namespace?: string | undefined
  readonly pod?: string | undefined
  readonly node?: string | undefined
  readonly owner?: Pick<Workload, 'namespace' | 'kind' | 'name'> | undefined
  readonly state?: string | undefined
  /** Asked only where a pool was named: it may have to be looked for. */
  readonly pool?: (() => string | undefined) | undefined
  /** Asked only where a selector was given; undefined: not known. */
  readonly labels?: (() => StringMap | undefined) | undefined
  readonly bridge?: string | undefined
  readonly uplink?: string | undefined
}

export type ListingFilter = (row: Listed) => boolean

export const podOfHolder = (holder: Holder): Pick<Listed, 'namespace' | 'pod'> =>
  holder.kind === 'pod' ? { namespace: holder.namespace, pod: holder.name } : {}

const sameKind = (kind: string | null, word: string): boolean =>
  kind?.toLowerCase() === (fullKind(word) ?? word).toLowerCase()

/** "web", "sts/web", "shop/web", "shop/sts/web", "StatefulSet shop/web" as listings print it, "external:printer-3". */
function ownerFilter(text: string): (owner: NonNullable<Listed['owner']>) => boolean {
  const [external, outside] = /^external:(.*)$/.exec(text) ?? []
  if (external !== undefined) return ({ kind, name }) => kind === 'external' && name === outside
  const printed = /^(\S+) ([^/\s]+)\/(\S+)$/.exec(text)
  const parts = printed ? [printed[2], printed[1], printed[3]] : text.split('/')
  const name = parts.at(-1)
  const [first = '', second = ''] = parts
  if (parts.length === 1) return owner => owner.name === name
  if (parts.length === 2)
    return owner => owner.name === name && (owner.namespace === first || sameKind(owner.kind, first))
  return owner => owner.name === name && owner.namespace === first && sameKind(owner.kind, second)
}

/** A namespace may be said twice, but it is one. */
function podFilter({ namespace, pod }: Filters): Pick<Listed, 'namespace' | 'pod'> {
  const [name, of] = pod?.split('/').reverse() ?? []
  if (namespace !== undefined && of !== undefined && of !== namespace)
    throw new Problem('IPK_REQUEST_INVALID', `pod ${pod} is not in namespace ${namespace}`, {
      hint: 'name the namespace once: --namespace NAMESPACE --pod NAME, or --pod NAMESPACE/NAME',
    })
  return { namespace: namespace ?? of, pod: name }
}

const isSelected = (selector: LabelSelector, labels: StringMap | undefined): boolean =>
  labels !== undefined && matchesSelector(selector, labels)

/**
 * Which rows are asked for: those that every filter fits. It is made once for a listing.
 *
 * @throws Problem IPK_REQUEST_INVALID
 */
export function readFilter(filters: Filters): ListingFilter {
  const { namespace, pod } = podFilter(filters)
  const { node, pool, bridge, uplink } = filters
  const states = filters.state?.split(',')
  const selector = filters.selector === undefined ? undefined : parseSelector(filters.selector)
  const isOwner = filters.owner === undefined ? undefined : ownerFilter(filters.owner)
  return row =>
    (namespace === undefined || row.namespace === namespace) &&
    (pod === undefined || row.pod === pod) &&
    (node === undefined || row.node === node) &&
    (states === undefined || (row.state !== undefined && states.includes(row.state))) &&
    (isOwner === undefined || (row.owner !== undefined && isOwner(row.owner))) &&
    (pool === undefined || row.pool?.() === pool) &&
    (selector === undefined || isSelected(selector, row.labels?.())) &&
    (bridge === undefined || row.bridge === bridge) &&
    (uplink === undefined || row.uplink === uplink)
}

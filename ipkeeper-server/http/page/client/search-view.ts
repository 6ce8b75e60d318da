import type { SearchReply } from '../../../../shared/api/search.schema.ts'
import { countText } from './count-text.ts'
import { reservationText } from './holder-text.ts'
import { formatRoute } from './route.ts'
import { stateSigns } from './states.ts'

export interface FoundRow {
  readonly address: string
  /** undefined where no pool known so far has the address. */
  readonly href: string | undefined
  readonly state: string
  /** The pod; "" where no pod has it. */
  readonly pod: string
  readonly owner: string
  readonly containerId: string | null
  readonly node: string
}

export interface FoundView {
  readonly says: string
  readonly rows: readonly FoundRow[]
}

const routeOf = ({ pool, address }: SearchReply['reservations'][number]): string | undefined =>
  pool === null ? undefined : formatRoute({ pool, address })

/**
 * @param text as it was typed
 * @param isFiltered whether some of it is a filter
 */
export function foundView(
  { leases, reservations, more = 0 }: SearchReply,
  text: string,
  isFiltered = false,
): FoundView {
  const leased = new Set(leases.map(({ segment, address }) => `${segment} ${address}`))
  const rows = [
    ...leases.map(({ address, pool, state, pod, owner, containerId, node }) => ({
      ...{ address, href: formatRoute({ pool, address }), state: stateSigns[state].word },
      ...{ pod: pod ? `${pod.namespace}/${pod.name}` : '', owner: owner ?? '', containerId, node },
    })),
    ...reservations
      .filter(({ segment, address }) => !leased.has(`${segment} ${address}`))
      .map(reservation => ({
        ...{ address: reservation.address, href: routeOf(reservation) },
        ...{ state: stateSigns[reservation.state].word, pod: '', owner: reservationText(reservation) },
        ...{ containerId: null, node: '' },
      })),
  ]
  const beyond = more === 0 ? '' : `; ${countText(more)} more, which longer words would leave out`
  return {
    rows,
    says:
      rows.length === 0
        ? nothingFits(text, isFiltered)
        : `${rows.length} ${rows.length === 1 ? 'address' : 'addresses'} with "${text}"${beyond}`,
  }
}

const nothingFits = (text: string, isFiltered: boolean): string =>
  isFiltered
    ? `No address fits all of "${text}".`
    : `No address, pod, namespace or owner has "${text}" in it, and no node or state is called so.`

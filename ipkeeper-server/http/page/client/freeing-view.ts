import type { LeaseItem } from '../../../../shared/api/listing.schema.ts'
import type { FreeingReply } from '../../../../shared/api/map.schema.ts'
import { countText } from './count-text.ts'
import { holderText } from './holder-text.ts'
import { formatRoute } from './route.ts'

export interface FreeingRow {
  readonly address: string
  readonly href: string
  readonly until: string
  readonly who: string
  readonly why: string
}

export interface FreeingView {
  readonly rows: readonly FreeingRow[]
  /** What is to be said below, or in place of the rows. */
  readonly note: string
}

function whyOf({ state, source, retain }: LeaseItem): string {
  if (state === 'held') return `held: retention ${retain}`
  return source.startsWith('put aside') ? source : 'cooling'
}

export function freeingView(pool: string, { freeing, more }: FreeingReply): FreeingView {
  const rows = freeing.flatMap(lease => {
    const { address, until } = lease
    const href = formatRoute({ pool, address })
    return until === null ? [] : [{ address, href, until, who: holderText(lease), why: whyOf(lease) }]
  })
  const note =
    rows.length === 0
      ? 'No address of this pool is released automatically.'
      : more > 0
        ? `and ${countText(more)} more`
        : ''
  return { rows, note }
}

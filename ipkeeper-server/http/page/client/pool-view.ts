import type { PoolFamily, PoolItem } from '../../../../shared/api/listing.schema.ts'
import { countText, sumOf } from './count-text.ts'
import { formatRoute } from './route.ts'

/** Of one family of a pool: one that is full is not seen in a sum with the other one's /64. */
export interface PoolRow {
  readonly name: string
  readonly family: PoolFamily['family']
  readonly href: string
  readonly current: boolean
  readonly segment: string
  readonly used: string
  /** Held, reserved, put aside, or resting after somebody had asked for it by name. */
  readonly kept: string
  readonly free: string
  readonly capacity: string
  readonly nextFreeAt: string | null
  /** When it is full if it goes on as it did: "now", ISO 8601, or null where that is not known. */
  readonly fullAt: string | null
}

export function poolRows(pools: readonly PoolItem[], current: string | undefined): PoolRow[] {
  return pools.flatMap(({ name, segment, families }) =>
    families.map(({ family, used, held, free, capacity, nextFreeAt, drains, forecast }) => ({
      ...{ name, segment, family, nextFreeAt },
      href: formatRoute({ pool: name }),
      current: name === current,
      used: countText(used),
      kept: countText(held),
      free: countText(free),
      capacity: countText(capacity),
      fullAt: BigInt(free) <= 0n && !drains ? 'now' : (forecast?.fullAt ?? null),
    })),
  )
}

/** Of all pools that have the family. */
export type PoolTotal = Pick<PoolRow, 'family' | 'used' | 'kept' | 'free' | 'capacity'>

/** A row for each family that several pools have: a sum of both would hide that one is full. */
export function poolTotals(pools: readonly PoolItem[]): PoolTotal[] {
  const all = pools.flatMap(({ families }) => families)
  return (['IPv4', 'IPv6'] as const).flatMap(family => {
    const of = all.filter(figures => figures.family === family)
    if (of.length < 2) return []
    const sum = (figure: 'used' | 'held' | 'free' | 'capacity'): string =>
      countText(sumOf(of.map(figures => figures[figure])).toString())
    return [{ family, used: sum('used'), kept: sum('held'), free: sum('free'), capacity: sum('capacity') }]
  })
}

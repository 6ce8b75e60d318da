import type { PoolFamily, PoolItem } from '../../../../shared/api/listing.schema.ts'
import { shellLine } from '../../../../shared/text/shell-word.ts'
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
}

export function poolRows(pools: readonly PoolItem[], current: string | undefined): PoolRow[] {
  return pools.flatMap(({ name, segment, families }) =>
    families.map(({ family, used, held, free, capacity, nextFreeAt }) => ({
      ...{ name, segment, family, nextFreeAt },
      href: formatRoute({ pool: name }),
      current: name === current,
      used: countText(used),
      kept: countText(held),
      free: countText(free),
      capacity: countText(capacity),
    })),
  )
}

/** What a person has to know of a pool beside its figures, and the command that shows more. */
export interface PoolNote {
  readonly says: string
  readonly command: string
}

/** Pools that give no new address, and those of whose newer spec the figures are not. */
export function poolNotes(pools: readonly PoolItem[]): PoolNote[] {
  return pools.flatMap(({ name, draining, pending }) => {
    const notes: PoolNote[] = []
    if (draining) {
      const what = draining.whole ? name : `A range of ${name}`
      const left = countText(draining.left)
      const says =
        left === '0'
          ? `${what} is drained: no address is left in it.`
          : `${what} is draining: ${left} left, and no new pod gets an address from it.`
      notes.push({ says, command: shellLine(['ipkeeperctl', 'leases', '--pool', name]) })
    }
    if (pending) notes.push({ says: `${pending.says}.`, command: shellLine(pending.next) })
    return notes
  })
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

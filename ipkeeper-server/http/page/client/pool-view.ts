import type { PoolFamily, PoolItem } from '../../../../shared/api/listing.schema.ts'
import { countText } from './count-text.ts'
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

import type { PoolItem } from '../../../../shared/api/listing.schema.ts'
import { countText } from './count-text.ts'
import { formatRoute } from './route.ts'

export interface PoolRow {
  readonly name: string
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
  return pools.map(({ name, segment, used, held, free, capacity, nextFreeAt }) => ({
    ...{ name, segment, nextFreeAt },
    href: formatRoute({ pool: name }),
    current: name === current,
    used: countText(used),
    kept: countText(held),
    free: countText(free),
    capacity: countText(capacity),
  }))
}

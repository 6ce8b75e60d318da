import type { PoolRow } from './pool-view.ts'
import { element, momentOf, replace, table } from './element.ts'

export function showPools(place: HTMLElement, rows: readonly PoolRow[]): void {
  if (rows.length === 0) {
    replace(
      place,
      element(
        'p',
        {},
        'No pool is known so far. Pools of the configuration are here at once, others with the first ADD of their network.',
      ),
    )
    return
  }
  replace(
    place,
    table({
      caption: 'Pools',
      unseen: true,
      header: ['Pool', 'Segment', 'Leased', 'Kept', 'Free', 'Size', 'Next frees'],
      numeric: [2, 3, 4, 5],
      rows: rows.map(({ name, href, current, segment, used, kept, free, capacity, nextFreeAt }) => ({
        key: name,
        cells: [
          element('a', { href, 'data-key': name, 'aria-current': current ? 'true' : undefined }, name),
          ...[segment, used, kept, free, capacity],
          nextFreeAt === null ? '-' : momentOf(nextFreeAt),
        ],
      })),
    }),
  )
}

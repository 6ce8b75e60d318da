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
  const segments = rows.some(({ segment }) => segment !== 'default')
  const segment = segments ? ['Segment'] : []
  const header = ['Pool', ...segment, 'Family', 'Leased', 'Kept', 'Next frees', 'Free', 'Size']
  const isNumber = (name: string): boolean => ['Leased', 'Kept', 'Free', 'Size'].includes(name)
  replace(
    place,
    table({
      ...{ caption: 'Pools', unseen: true, header },
      numeric: header.flatMap((name, column) => (isNumber(name) ? [column] : [])),
      rows: rows.map(row => {
        const { name, family, href, used, kept, free, capacity, nextFreeAt } = row
        const key = `${name} ${family}`
        return {
          key,
          cells: [
            element('a', { href, 'data-key': key, 'aria-current': row.current ? 'true' : undefined }, name),
            ...(segments ? [row.segment] : []),
            ...[family, used, kept],
            nextFreeAt === null ? '-' : momentOf(nextFreeAt),
            ...[free, capacity],
          ],
        }
      }),
    }),
  )
}

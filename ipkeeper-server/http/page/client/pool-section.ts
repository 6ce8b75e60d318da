import type { PoolNote } from '../../../../shared/text/pool-notes.ts'
import { shellLine } from '../../../../shared/text/shell-word.ts'
import type { PoolRow, PoolTotal } from './pool-view.ts'
import { element, momentOf, replace, table } from './element.ts'

/** For a node that has just been installed: nothing is wrong with it. */
function emptyNode(here: ShownPools['here']): HTMLElement {
  const command = (text: string): HTMLElement => element('code', {}, here(text))
  return element(
    'div',
    { class: 'welcome' },
    element(
      'p',
      { class: 'sentence' },
      'There is no pool on this node yet. The daemon is ready for the first one.',
    ),
    element(
      'ol',
      {},
      element(
        'li',
        {},
        'As root on this node, see whether its network uses ipkeeper, and what to type if it does not: ',
        command('ipkeeperctl doctor'),
      ),
      element(
        'li',
        {},
        'Start a pod: the pool of its network appears here, and in the list of ',
        command('ipkeeperctl pools'),
      ),
    ),
    element('p', {}, 'Pools of the configuration of the daemon are here at once, without a pod.'),
  )
}

export interface ShownPools {
  readonly rows: readonly PoolRow[]
  readonly totals: readonly PoolTotal[]
  readonly notes: readonly PoolNote[]
  /** A command as it works on the node of the daemon. */
  readonly here: (command: string) => string
}

export function showPools(place: HTMLElement, { rows, totals, notes, here }: ShownPools): void {
  if (rows.length === 0) {
    replace(place, emptyNode(here))
    return
  }
  const segments = rows.some(({ segment }) => segment !== 'default')
  const segment = segments ? ['Segment'] : []
  const header = ['Pool', ...segment, 'Family', 'Leased', 'Kept', 'Next frees', 'Free', 'Full', 'Size']
  const isNumber = (name: string): boolean => ['Leased', 'Kept', 'Free', 'Size'].includes(name)
  replace(
    place,
    table({
      ...{ caption: 'Pools', unseen: true, header },
      numeric: header.flatMap((name, column) => (isNumber(name) ? [column] : [])),
      rows: rows.map(row => {
        const { name, family, href, used, kept, free, capacity, nextFreeAt, fullAt } = row
        const key = `${name} ${family}`
        return {
          key,
          cells: [
            element('a', { href, 'data-key': key, 'aria-current': row.current ? 'true' : undefined }, name),
            ...(segments ? [row.segment] : []),
            ...[family, used, kept],
            nextFreeAt === null ? '-' : momentOf(nextFreeAt),
            free,
            fullAt === null || fullAt === 'now' ? (fullAt ?? '-') : momentOf(fullAt),
            capacity,
          ],
        }
      }),
      sums: totals.map(({ family, used, kept, free, capacity }) => ({
        key: `total ${family}`,
        cells: ['All pools', ...(segments ? ['-'] : []), family, used, kept, '-', free, '-', capacity],
      })),
    }),
    ...notes.map(({ says, next }) =>
      element('p', { class: 'note' }, `${says}. `, element('code', {}, here(shellLine(next)))),
    ),
  )
}

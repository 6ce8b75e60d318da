import { element, momentOf, replace, table } from './element.ts'
import type { FreeingView } from './freeing-view.ts'

export function showFreeing(place: HTMLElement, { rows, note }: FreeingView): void {
  const shown = table({
    caption: 'Addresses that come free by themselves, the next one first',
    unseen: true,
    header: ['Address', 'Frees', 'Whose', 'Why not yet'],
    rows: rows.map(({ address, href, until, who, why }) => ({
      key: address,
      cells: [element('a', { href, 'data-key': address }, address), momentOf(until), who, why],
    })),
  })
  replace(place, ...(rows.length === 0 ? [] : [shown]), ...(note === '' ? [] : [element('p', {}, note)]))
}

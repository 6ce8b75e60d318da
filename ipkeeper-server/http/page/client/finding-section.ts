import { element, replace } from './element.ts'
import type { FindingsView } from './finding-view.ts'

export function showFindings(place: HTMLElement, { rows, says, witnesses }: FindingsView): void {
  const items = rows.map(({ severity, says: what, why, remedy, state }) =>
    element(
      'li',
      { class: `finding ${severity}` },
      element('strong', {}, severity),
      ` ${what}`,
      element('p', {}, `Why: ${why}; ${state}`),
      ...(remedy === '' ? [] : [element('p', {}, `What to do: ${remedy}`)]),
    ),
  )
  replace(
    place,
    element('p', {}, says),
    ...(items.length === 0 ? [] : [element('ul', { class: 'findings' }, ...items)]),
    element(
      'details',
      {},
      element('summary', { 'data-key': 'witnesses' }, 'Who was asked'),
      element('ul', {}, ...witnesses.map(text => element('li', {}, text))),
    ),
  )
}

import { element, replace } from './element.ts'
import type { FindingGroup, FindingRow, FindingsView } from './finding-view.ts'

/** Findings of a kind that are seen at once; of more of them the others are opened. */
const seenAtOnce = 3

export function showFindings(place: HTMLElement, { groups, says, witnesses }: FindingsView): void {
  replace(
    place,
    element('p', {}, says),
    ...groups.flatMap(showGroup),
    element(
      'details',
      {},
      element('summary', { 'data-key': 'witnesses' }, 'Who was asked'),
      element('ul', {}, ...witnesses.map(text => element('li', {}, text))),
    ),
  )
}

function showGroup({ kind, severity, title, rows }: FindingGroup): HTMLElement[] {
  const [seen, others] = [rows.slice(0, seenAtOnce), rows.slice(seenAtOnce)]
  return [
    element('h3', { class: severity }, `${severity}: ${title}`),
    listOf(severity, seen),
    ...(others.length === 0
      ? []
      : [
          element(
            'details',
            {},
            element('summary', { 'data-key': `more ${severity} ${kind}` }, `${others.length} more`),
            listOf(severity, others),
          ),
        ]),
  ]
}

function listOf(severity: FindingGroup['severity'], rows: readonly FindingRow[]): HTMLElement {
  const items = rows.map(({ says, why, remedy, state }) =>
    element(
      'li',
      { class: `finding ${severity}` },
      says,
      element('p', {}, `Why: ${why}; ${state}`),
      ...(remedy === '' ? [] : [element('p', {}, `What to do: ${remedy}`)]),
    ),
  )
  return element('ul', { class: 'findings' }, ...items)
}

import type { AddressView, TenureRow } from './address-view.ts'
import { element, momentOf, replace, setText, table } from './element.ts'

export interface AddressParts {
  readonly view: AddressView
  readonly tenures: readonly TenureRow[]
  /** Whether there are older ones. */
  readonly more: boolean
}

export interface AddressHooks {
  readonly onOlder: () => void
  readonly onClose: () => void
}

export function showAddress(
  section: { readonly heading: HTMLElement; readonly body: HTMLElement },
  { view, tenures, more }: AddressParts,
  { onOlder, onClose }: AddressHooks,
): void {
  setText(section.heading, view.heading)
  const facts = view.facts.flatMap(({ name, text, time }) => [
    element('dt', {}, name),
    element('dd', {}, text, ...(time === undefined ? [] : [' (', momentOf(time), ')'])),
  ])
  const history =
    tenures.length === 0
      ? element('p', {}, 'Nobody has had this address as far as the history goes back.')
      : table({
          caption: 'History, newest first',
          header: ['When', 'State', 'Who', 'Ended'],
          rows: tenures.map(({ key, when, state, who, ended }) => ({
            key,
            cells: [element('span', { class: 'when' }, when), state, who, ended],
          })),
        })
  replace(
    section.body,
    element('p', { class: 'sentence' }, view.sentence),
    element('dl', {}, ...facts),
    history,
    ...(more ? [button('Older', onOlder)] : []),
    button('Back to the map', onClose),
  )
}

function button(text: string, onClick: () => void): HTMLElement {
  const made = element('button', { type: 'button', 'data-key': text }, text)
  made.addEventListener('click', onClick)
  return made
}

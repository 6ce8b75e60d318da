import type { AddressView, TimelineItem } from './address-view.ts'
import { containerId, element, momentOf, replace, setText } from './element.ts'
import { stateSigns } from './states.ts'

export interface AddressParts {
  readonly view: AddressView
  readonly timeline: readonly TimelineItem[]
  /** Whether there are older ones. */
  readonly more: boolean
  /** What to type of this address; empty where there is nothing. */
  readonly commands: HTMLElement
}

export interface AddressHooks {
  readonly onOlder: () => void
  readonly onClose: () => void
}

export function showAddress(
  section: { readonly heading: HTMLElement; readonly body: HTMLElement },
  { view, timeline, more, commands }: AddressParts,
  { onOlder, onClose }: AddressHooks,
): void {
  setText(section.heading, view.heading)
  const facts = view.facts.flatMap(({ name, text, time, isId }) => [
    element('dt', {}, name),
    element(
      'dd',
      {},
      isId ? containerId(text) : text,
      ...(time === undefined ? [] : [' (', momentOf(time), ')']),
    ),
  ])
  const history =
    timeline.length === 0
      ? [element('p', {}, 'Nobody has had this address as far as the history goes back.')]
      : [
          element('h3', { id: 'history' }, 'History, newest first'),
          // Without a mark of its own a list is none for some who hear it.
          element(
            'ol',
            { class: 'timeline', role: 'list', 'aria-labelledby': 'history' },
            ...timeline.map(showTenure),
          ),
        ]
  replace(
    section.body,
    element('p', { class: 'sentence' }, view.sentence),
    element('dl', {}, ...facts),
    ...(commands.childElementCount === 0 ? [] : [element('h3', {}, 'Commands'), commands]),
    ...history,
    ...(more ? [button('Older', onOlder)] : []),
    button('Back to the map', onClose),
  )
}

function showTenure(item: TimelineItem): HTMLElement {
  const { state, word, when, lasted, since, who, containerId: id, ended } = item
  return element(
    'li',
    { 'data-state': state },
    element('span', { class: `swatch ${state}`, 'aria-hidden': 'true' }, stateSigns[state].letter),
    element('strong', {}, word),
    ...(who === '' ? [] : [' ', element('span', { class: 'who' }, who)]),
    ...(id === null ? [] : [', container ', containerId(id)]),
    element(
      'div',
      { class: 'when' },
      when,
      ...(lasted === '' ? [] : [`, ${lasted}`]),
      ...(since === undefined ? [] : [' (', momentOf(since), ')']),
    ),
    ...(ended === '' ? [] : [element('div', { class: 'ended' }, `Ended: ${ended}`)]),
  )
}

function button(text: string, onClick: () => void): HTMLElement {
  const made = element('button', { type: 'button', 'data-key': text }, text)
  made.addEventListener('click', onClick)
  return made
}

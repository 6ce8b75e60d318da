/** A text from outside on one line, which nothing in it can mirror: names come from whoever may start a pod. */
function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, '?')
}

/** `true` stands for an attribute without a value; undefined leaves it away. */
export type Attributes = Readonly<Record<string, string | true | undefined>>

/** An element; what is text becomes text, and never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(name, value === true ? '' : visible(value))
  made.append(...children.map(child => (typeof child === 'string' ? visible(child) : child)))
  return made
}

/** An element that the page's own markup has. */
export function existing(selector: string): HTMLElement {
  const found = document.querySelector<HTMLElement>(selector)
  if (!found) throw new Error(`the page has no ${selector}`)
  return found
}

/** Sets a text where it differs, so that what stays is not read out again. */
export function setText(place: Element, text: string): void {
  const shown = visible(text)
  if (place.textContent !== shown) place.textContent = shown
}

export function setAttribute(place: Element, name: string, value: string): void {
  const shown = visible(value)
  if (place.getAttribute(name) !== shown) place.setAttribute(name, shown)
}

/** Puts new content in the place of the old one. Whatever had the focus has it again where it is still there by its key. */
export function replace(place: HTMLElement, ...children: readonly Node[]): void {
  const active = document.activeElement
  const key = active && place.contains(active) ? active.getAttribute('data-key') : null
  place.replaceChildren(...children)
  if (key !== null) byKey(place, key)?.focus({ preventScroll: true })
}

export function byKey(place: HTMLElement, key: string): HTMLElement | null {
  return place.querySelector<HTMLElement>(`[data-key="${CSS.escape(visible(key))}"]`)
}

/** A moment with its distance from now, which shownDistances keeps true. */
export function momentOf(iso: string): HTMLElement {
  return element('time', { datetime: iso, 'data-distance': true })
}

export interface TableParts {
  readonly caption: string
  readonly header: readonly string[]
  readonly rows: readonly { readonly key: string; readonly cells: readonly (Node | string)[] }[]
  /** Of the columns: those of numbers. */
  readonly numeric?: readonly number[]
  /** What the caption says is in the heading above as well, so it is for those only who hear the page. */
  readonly unseen?: true
}

/** A table; the first cell of each row names it. It scrolls by itself where it is too wide. */
export function table({ caption, header, rows, numeric = [], unseen }: TableParts): HTMLElement {
  const kind = (column: number): string | undefined => (numeric.includes(column) ? 'number' : undefined)
  const head = header.map((text, column) => element('th', { scope: 'col', class: kind(column) }, text))
  const body = rows.map(({ cells }) =>
    element(
      'tr',
      {},
      ...cells.map((cell, column) =>
        column === 0 ? element('th', { scope: 'row' }, cell) : element('td', { class: kind(column) }, cell),
      ),
    ),
  )
  return element(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0' },
    element(
      'table',
      {},
      element('caption', { class: unseen && 'unseen' }, caption),
      element('thead', {}, element('tr', {}, ...head)),
      element('tbody', {}, ...body),
    ),
  )
}

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

/** An element of a picture; attributes alone dress it, since the page's policy allows no style of its own. */
export function shape(
  tag: keyof SVGElementTagNameMap,
  attributes: Attributes,
  ...children: readonly (Node | string)[]
): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) made.setAttribute(name, value === true ? '' : visible(value))
  made.append(...children.map(child => (typeof child === 'string' ? visible(child) : child)))
  return made
}

/** Characters of a container's ID that tell it from others, as the command line shows it. */
const shortId = 13

/** The beginning of a container's ID; all of it for whoever points at it, comes to it by Tab, or hears the page. */
export function containerId(id: string): HTMLElement | string {
  if (id.length <= shortId) return id
  return element(
    'span',
    { class: 'id', tabindex: '0', 'data-key': `id ${id}` },
    element('span', { class: 'beginning', 'aria-hidden': 'true' }, `${id.slice(0, shortId)}…`),
    element('span', { class: 'whole' }, id),
  )
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

/**
 * Puts new content in the place of the old one. Whatever had the focus has it again where it is still there by its key, and
 * what was opened stays open.
 */
export function replace(place: HTMLElement, ...children: readonly Node[]): void {
  const active = document.activeElement
  const key = active && place.contains(active) ? active.getAttribute('data-key') : null
  const opened = [...place.querySelectorAll('details[open] > summary')]
  place.replaceChildren(...children)
  for (const summary of opened)
    byKey(place, summary.getAttribute('data-key') ?? '')?.parentElement?.setAttribute('open', '')
  if (key !== null) byKey(place, key)?.focus({ preventScroll: true })
}

export function byKey(place: HTMLElement, key: string): HTMLElement | null {
  return place.querySelector<HTMLElement>(`[data-key="${CSS.escape(visible(key))}"]`)
}

/** A moment with its distance from now, which shownDistances keeps true. */
export function momentOf(iso: string): HTMLElement {
  return element('time', { datetime: iso, 'data-distance': true })
}

/** A number of many digits may go on in a further line, after a comma. */
function breakable(number: string): (Node | string)[] {
  return number.split(/(?<=,)/).flatMap((part, index) => (index === 0 ? [part] : [element('wbr', {}), part]))
}

export interface TableRow {
  readonly key: string
  readonly cells: readonly (Node | string)[]
}

export interface TableParts {
  readonly caption: string
  readonly header: readonly string[]
  readonly rows: readonly TableRow[]
  /** Sums below the rows. */
  readonly sums?: readonly TableRow[]
  /** Of the columns: those of numbers. */
  readonly numeric?: readonly number[]
  /** What the caption says is in the heading above as well, so it is for those only who hear the page. */
  readonly unseen?: true
}

/**
 * A table; the first cell of each row names it. It scrolls by itself where it is too wide, and on a small screen each row is a
 * list of its cells, which have the names of their columns: roles say that it is a table all the same.
 */
export function table({ caption, header, rows, sums = [], numeric = [], unseen }: TableParts): HTMLElement {
  const kind = (column: number): string | undefined => (numeric.includes(column) ? 'number' : undefined)
  const head = header.map((text, column) =>
    element('th', { scope: 'col', role: 'columnheader', class: kind(column) }, text),
  )
  const rowOf = ({ cells }: TableRow): HTMLElement =>
    element(
      'tr',
      { role: 'row' },
      ...cells.map((cell, column) =>
        column === 0
          ? element('th', { scope: 'row', role: 'rowheader' }, cell)
          : element(
              'td',
              { role: 'cell', class: kind(column), 'data-label': header[column] },
              ...(typeof cell === 'string' && numeric.includes(column) ? breakable(cell) : [cell]),
            ),
      ),
    )
  const group = (tag: 'thead' | 'tbody' | 'tfoot', ...lines: readonly Node[]): HTMLElement =>
    element(tag, { role: 'rowgroup' }, ...lines)
  return element(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0' },
    element(
      'table',
      { role: 'table' },
      element('caption', { class: unseen && 'unseen' }, caption),
      group('thead', element('tr', { role: 'row' }, ...head)),
      group('tbody', ...rows.map(rowOf)),
      ...(sums.length === 0 ? [] : [group('tfoot', ...sums.map(rowOf))]),
    ),
  )
}

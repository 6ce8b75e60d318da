import { byKey, element, replace, setAttribute, setText, table } from './element.ts'
import { walkGrid } from './grid-walk.ts'
import type { MapCell, MapView } from './map-view.ts'
import { formatRoute, type Route } from './route.ts'

const blocksHint =
  'The upper number is the block, the lower one how many of its addresses are taken; the shade shows the same in quarters.'

/** Where 16 places in a row would be too small to read and to touch, there are 8: page.css has the same width. */
const small = matchMedia('(max-width: 47rem)')

/** The map of one pool: a grid through which keys lead, or a table that tells the same. */
export class MapSection {
  readonly #heading: HTMLElement
  readonly #body: HTMLElement
  readonly #go: (route: Route) => void
  #form: 'map' | 'table' = 'map'
  #view: MapView | undefined
  /** Of the cell that Tab leads to. */
  #current = 0
  #grid: HTMLElement | undefined
  #hint: HTMLElement | undefined
  #selected: string | undefined

  constructor(section: HTMLElement, go: (route: Route) => void) {
    this.#heading = find(section, 'h2')
    this.#body = find(section, '.body')
    this.#go = go
    small.addEventListener('change', () => {
      if (this.#view) this.#build(this.#view, false)
    })
  }

  get #columns(): number {
    return small.matches ? 8 : 16
  }

  /** `selected`: the address that is shown beside the map. */
  show(view: MapView, selected: string | undefined): void {
    const before = this.#view
    this.#view = view
    this.#selected = selected
    setText(this.#heading, `${view.heading}: ${view.within}`)
    if (this.#grid && before?.within === view.within && sameKeys(before.grid, view.grid)) this.#update(view)
    else this.#build(view, before?.within !== view.within)
  }

  /** Why there is no map. */
  say(text: string, why: 'empty' | 'refused'): void {
    this.#view = undefined
    this.#grid = undefined
    setText(this.#heading, 'Map')
    replace(this.#body, element('p', { role: why === 'refused' ? 'alert' : undefined }, text))
  }

  /** Leads the focus to the cell or row of that key; else to where Tab would lead. */
  focus(key?: string): void {
    const wanted = key === undefined ? null : byKey(this.#body, key)
    const place =
      wanted ?? this.#grid?.querySelector<HTMLElement>('[tabindex="0"]') ?? this.#body.querySelector('a')
    place?.focus()
  }

  #build(view: MapView, isNew: boolean): void {
    const { grid } = view
    this.#grid = undefined
    this.#hint = undefined
    if (isNew) this.#current = Math.max(0, grid?.findIndex(({ key }) => key === this.#selected) ?? 0)
    const asTable = grid === null || this.#form === 'table'
    replace(
      this.#body,
      this.#path(view),
      legend(view),
      ...(grid === null ? [] : [this.#choice()]),
      ...(asTable ? [this.#table(view)] : this.#gridOf(grid, view)),
    )
  }

  /** In place, so that the focus stays where it is. */
  #update(view: MapView): void {
    for (const item of view.legend) {
      const place = this.#body.querySelector(`.legend [data-state="${item.state}"] .count`)
      if (place) setText(place, item.count)
    }
    const places = this.#grid?.querySelectorAll<HTMLElement>('.cell') ?? []
    for (const [index, place] of [...places].entries()) {
      const cell = view.grid?.[index]
      if (cell) this.#dress(place, cell)
    }
  }

  #path({ path }: MapView): HTMLElement {
    const items = path.map(({ text, href, current }) =>
      element(
        'li',
        {},
        element(
          'a',
          { href, 'data-key': `path ${text}`, 'aria-current': current ? 'true' : undefined },
          text,
        ),
      ),
    )
    return element('nav', { 'aria-label': 'Blocks of the pool' }, element('ul', { class: 'path' }, ...items))
  }

  #choice(): HTMLElement {
    const button = (form: 'map' | 'table', text: string): HTMLElement => {
      const made = element(
        'button',
        { type: 'button', 'data-key': `as ${form}`, 'aria-pressed': String(this.#form === form) },
        text,
      )
      made.addEventListener('click', () => {
        this.#form = form
        if (this.#view) this.#build(this.#view, false)
      })
      return made
    }
    return element(
      'div',
      { class: 'choice', role: 'group', 'aria-label': 'Show as' },
      button('map', 'Map'),
      button('table', 'Table'),
    )
  }

  #table({ table: { caption, header, rows, empty }, grid }: MapView): HTMLElement {
    if (rows.length === 0) return element('p', {}, empty)
    return table({
      caption,
      header,
      numeric:
        grid?.some(({ state }) => state !== 'block') === true
          ? []
          : header.map((_, column) => column).slice(1),
      rows: rows.map(({ key, route, cells: [first = '', ...others] }) => ({
        key,
        cells: [element('a', { href: formatRoute(route), 'data-key': key }, first), ...others],
      })),
    })
  }

  #gridOf(cells: readonly MapCell[], { within }: MapView): HTMLElement[] {
    const ofBlocks = cells[0]?.state === 'block'
    const rows: HTMLElement[] = []
    const columns = this.#columns
    for (let start = 0; start < cells.length; start += columns) {
      const places = cells.slice(start, start + columns).map((cell, offset) => {
        const place = element('div', {
          role: 'gridcell',
          'data-key': cell.key,
          tabindex: start + offset === this.#current ? '0' : '-1',
        })
        place.append(element('span', { class: 'label' }), element('span', { class: 'sign' }))
        this.#dress(place, cell)
        return place
      })
      rows.push(element('div', { role: 'row', class: 'row' }, ...places))
    }
    const grid = element(
      'div',
      {
        role: 'grid',
        class: 'grid',
        'aria-label': `${ofBlocks ? 'Blocks' : 'Addresses'} of ${within}`,
        'aria-describedby': 'grid-keys',
      },
      ...rows,
    )
    this.#listen(grid)
    this.#grid = grid
    this.#hint = element(
      'p',
      { class: 'hint', 'aria-hidden': 'true' },
      ofBlocks ? blocksHint : 'Point at an address, or go through the map with the arrow keys.',
    )
    const keys = element(
      'p',
      { id: 'grid-keys', class: 'hint' },
      `Arrow keys, Home, End, Page Up and Page Down lead through the map; Enter opens ${ofBlocks ? 'a block' : 'an address'}.`,
    )
    return [element('div', { class: 'scroll' }, grid), this.#hint, keys]
  }

  #dress(place: HTMLElement, cell: MapCell): void {
    const { label, sign, state, level, says } = cell
    setAttribute(place, 'class', state === 'block' ? `cell block level-${level}` : `cell ${state}`)
    setAttribute(place, 'aria-label', says)
    setAttribute(place, 'aria-selected', String(cell.key === this.#selected))
    const [first, second] = place.children
    if (first) setText(first, label)
    if (second) setText(second, sign)
  }

  #listen(grid: HTMLElement): void {
    const indexOf = (target: EventTarget | null): number => {
      const cell = target instanceof Element ? target.closest('.cell') : null
      return cell ? [...grid.querySelectorAll('.cell')].indexOf(cell) : -1
    }
    grid.addEventListener('keydown', event => {
      const index = indexOf(event.target)
      if (index < 0 || event.altKey || event.metaKey) return
      if (event.key === 'Enter' || event.key === ' ') {
        event.preventDefault()
        this.#open(index)
        return
      }
      const next = walkGrid(event, index, { columns: this.#columns, count: this.#view?.grid?.length ?? 0 })
      if (next === undefined) return
      event.preventDefault()
      this.#lead(grid, next)
    })
    grid.addEventListener('click', event => {
      const index = indexOf(event.target)
      if (index >= 0) this.#open(index)
    })
    const hint = (event: Event): void => {
      const cell = this.#view?.grid?.[indexOf(event.target)]
      if (cell && this.#hint) setText(this.#hint, cell.says)
    }
    grid.addEventListener('focusin', hint)
    grid.addEventListener('pointerover', hint)
  }

  #lead(grid: HTMLElement, index: number): void {
    const places = grid.querySelectorAll<HTMLElement>('.cell')
    places[this.#current]?.setAttribute('tabindex', '-1')
    this.#current = index
    places[index]?.setAttribute('tabindex', '0')
    places[index]?.focus()
  }

  #open(index: number): void {
    const cell = this.#view?.grid?.[index]
    if (!cell || !this.#grid) return
    this.#lead(this.#grid, index)
    this.#go(cell.route)
  }
}

function legend({ legend: items }: MapView): HTMLElement {
  return element(
    'ul',
    { class: 'legend', 'aria-label': 'States, and how many addresses of this block have them' },
    ...items.map(({ state, letter, word, says, count }) =>
      element(
        'li',
        { 'data-state': state },
        element('span', { class: `swatch ${state}`, 'aria-hidden': 'true' }, letter),
        element('span', { class: 'word' }, word),
        ' ',
        element('span', { class: 'count' }, count),
        element('span', { class: 'says' }, says),
      ),
    ),
  )
}

function sameKeys(a: readonly MapCell[] | null | undefined, b: readonly MapCell[] | null): boolean {
  return a?.length === b?.length && a?.every(({ key }, index) => key === b?.[index]?.key) === true
}

function find(place: HTMLElement, selector: string): HTMLElement {
  const found = place.querySelector<HTMLElement>(selector)
  if (!found) throw new Error(`the page has no ${selector}`)
  return found
}

import type { AddressReply } from '../../../../shared/api/address.schema.ts'
import type { SearchReply } from '../../../../shared/api/search.schema.ts'
import { parseAddress } from '../../../../shared/net/address.ts'
import { apiPath, ask, ApiRefusal } from './api.ts'
import { commandList } from './command-section.ts'
import { commandsOfSearch } from './command-view.ts'
import { containerId, element, existing, replace, setText, table } from './element.ts'
import type { Route } from './route.ts'
import { readSearch, searchFilters, withFilter, type SearchFilter, type TypedSearch } from './search-terms.ts'
import { foundView, type FoundView } from './search-view.ts'

export interface SearchHooks {
  /** In which an address is looked for first. */
  readonly segment: () => string
  /** An address was found. */
  readonly onAddress: (route: Route) => void
  /** A command as it works on the node of the daemon. */
  readonly here: (command: string) => string
}

/** The field that takes an address, or anything that is known of a pod, also several things together. */
export class SearchBox {
  readonly #hooks: SearchHooks
  readonly #says = existing('#find-says')
  readonly #found = existing('#found')
  /** Of what was typed last: an older answer may come after it. */
  #latest = ''

  constructor(hooks: SearchHooks) {
    this.#hooks = hooks
    const field = existing('#find-text')
    if (!(field instanceof HTMLInputElement)) throw new Error('the page has no field to search with')
    existing('#find').addEventListener('submit', event => {
      event.preventDefault()
      void this.#search(field.value.trim())
    })
    replace(
      existing('#find-filters'),
      element('span', {}, 'Several together: '),
      ...searchFilters.map(name => filterButton(name, field)),
    )
    field.addEventListener('input', () => {
      if (field.value === '') this.#clear()
    })
  }

  async #search(text: string): Promise<void> {
    this.#clear()
    this.#latest = text
    if (text === '') return
    try {
      // As people copy it from elsewhere: with the length of its prefix.
      const address = text.replace(/\/[0-9]{1,3}$/, '')
      if (parseAddress(address)) await this.#openAddress(address)
      else {
        const terms = readSearch(text)
        if ('problem' in terms) setText(this.#says, terms.problem)
        else await this.#list(text, terms)
      }
    } catch (error) {
      if (!(error instanceof ApiRefusal)) throw error
      setText(this.#says, error.message)
    }
  }

  #clear(): void {
    this.#latest = ''
    setText(this.#says, '')
    replace(this.#found)
  }

  /** Leads to an address in whichever pool has it. */
  async #openAddress(text: string): Promise<void> {
    let found = await ask<AddressReply>(`/v1/addresses${apiPath(this.#hooks.segment(), text)}`)
    const [other] = found.elsewhere
    if (found.pool === null && other !== undefined)
      found = await ask<AddressReply>(`/v1/addresses${apiPath(other, text)}`)
    const { pool, address, sentence } = found
    if (pool === null) setText(this.#says, sentence)
    else this.#hooks.onAddress({ pool, address })
  }

  /** @param typed what stands in the field */
  async #list(typed: string, { filters, text }: TypedSearch): Promise<void> {
    const query = new URLSearchParams({ ...filters, ...(text !== '' && { text }) }).toString()
    const reply = await ask<SearchReply>(`/v1/search?${query}`)
    if (this.#latest !== typed) return
    const view = foundView(reply, typed, Object.keys(filters).length > 0)
    setText(this.#says, view.says)
    const pods = view.rows.map(({ pod }) => pod)
    const commands = commandsOfSearch({ filters, text }, pods)
    replace(
      this.#found,
      ...(pods.length > 0 ? [foundTable(view)] : []),
      ...(commands.length > 0 ? [commandList(commands, this.#hooks.here)] : []),
    )
  }
}

/** Types the name of a filter: who chooses it need not know how it is spelt. */
function filterButton(name: SearchFilter, field: HTMLInputElement): HTMLElement {
  const button = element('button', { type: 'button' }, `${name}:`)
  button.addEventListener('click', () => {
    field.value = withFilter(field.value, name)
    field.focus()
    field.setSelectionRange(field.value.length, field.value.length)
  })
  return button
}

function foundTable({ rows }: FoundView): HTMLElement {
  return table({
    caption: 'Found',
    unseen: true,
    header: ['Address', 'State', 'Pod', 'Owner', 'Container', 'Node'],
    rows: rows.map(({ address, href, state, pod, owner, containerId: id, node }) => ({
      key: address,
      cells: [
        href === undefined ? address : element('a', { href, 'data-key': address }, address),
        ...[state, pod, owner],
        id === null ? '' : containerId(id),
        node,
      ],
    })),
  })
}

import type { leaseTerms } from '../../../../shared/api/listing-query.schema.ts'
import { stateSigns } from './states.ts'

/** The filters of `ipkeeperctl leases`, as they are typed here: "namespace:shop". */
export type SearchFilter = (typeof leaseTerms.filters)[number]

/** A value of each, in the order of the buttons that type them. */
const examples: Readonly<Record<SearchFilter, string>> = {
  ...{ namespace: 'shop', pod: 'web-0', owner: 'StatefulSet/web', node: 'worker-1', state: 'held' },
  ...{ pool: 'net', selector: 'app=web' },
}

export const searchFilters = Object.keys(examples) as SearchFilter[]

/** Of leases, and of reservations that have no lease. */
const searchedStates = ['bound', 'held', 'cooling', 'reserved'] as const

export interface TypedSearch {
  readonly filters: Readonly<Partial<Record<SearchFilter, string>>>
  /** What is not a filter. */
  readonly text: string
}

/** A value may be quoted, as an owner that is copied from a listing has a blank: owner:"StatefulSet shop/web". */
const word = /([a-z]+):("[^"]*"?|[^\s"]*)|\S+/gi

const isFilter = (name: string): name is SearchFilter => Object.hasOwn(examples, name)

/** A state by the word of the map, or by that of `ipkeeperctl`. */
const stateCalled = (called: string): string | undefined =>
  searchedStates.find(state => [state, stateSigns[state].word].includes(called.toLowerCase()))

/** What was typed: filters, in any order, and other words; or what is wrong with it. */
export function readSearch(typed: string): TypedSearch | { readonly problem: string } {
  const given: [name: SearchFilter, value: string][] = []
  const texts: string[] = []
  for (const [whole, before = '', value = ''] of typed.matchAll(word)) {
    const name = before.toLowerCase()
    if (isFilter(name)) given.push([name, value.replaceAll('"', '').trim()])
    else texts.push(whole.replaceAll('"', ''))
  }
  const empty = given.find(([, value]) => value === '')
  if (empty) return { problem: `${empty[0]}: wants a value, such as ${empty[0]}:${examples[empty[0]]}` }
  const twice = given.find(([name], index) => given.findIndex(([other]) => other === name) !== index)
  if (twice)
    return {
      problem: `${twice[0]}: is there twice${twice[0] === 'state' ? '; of two: state:held,cooling' : ''}`,
    }
  const filters = Object.fromEntries(given) as TypedSearch['filters']
  const terms = { filters, text: texts.join(' ').trim() }
  if (filters.state === undefined) return terms
  const called = filters.state.split(',')
  const states = called.flatMap(one => stateCalled(one) ?? [])
  if (states.length === called.length) return { ...terms, filters: { ...filters, state: states.join() } }
  return {
    problem: `there is no state "${filters.state}" here; there are leased, held, cooling and reserved`,
  }
}

/** What the field has when a filter was chosen: its value comes next. */
export function withFilter(typed: string, name: SearchFilter): string {
  return `${typed.trimEnd()} ${name}:`.trimStart()
}

import { Type, type Static } from 'typebox'
import { filterKeys, leaseStates, leaseTerms, More, type Filters } from './listing-query.schema.ts'
import { LeaseItem, ReserveReply } from './listing.schema.ts'

/** What is known of whatever a person remembers of a pod: a part of its name, namespace or owner, of an address or a container. */

/** How an address stands: as its lease, or reserved where it has none. */
const searchedStates = [...leaseStates, 'reserved'].join('|')

export const SearchQuery = Type.Object(
  {
    ...filterKeys(leaseTerms.filters),
    state: Type.Optional(
      Type.String({
        pattern: `^(${searchedStates})(,(${searchedStates}))*$`,
        description: 'one or more, separated by commas',
      }),
    ),
    text: Type.Optional(
      Type.String({
        ...{ minLength: 1, maxLength: 300 },
        description:
          'words, all of which fit: a part of an address, of NAMESPACE/POD, of an owner or a note, the beginning of the ID of a container, or all of the name of a node or a state: bound or leased, held, cooling, reserved; upper and lower case are the same. May be left out where something else is said',
      }),
    ),
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]?|100)$',
        description: 'at most so many of each kind, up to 100; 50 unless given',
      }),
    ),
  },
  { additionalProperties: false },
)

export interface SearchQuery extends Filters {
  readonly text?: string | undefined
  readonly limit?: string | undefined
}

export const SearchReply = Type.Object(
  {
    leases: Type.Array(LeaseItem, { description: 'in the order of their addresses' }),
    reservations: Type.Array(
      Type.Object({
        ...ReserveReply.properties,
        state: Type.Union(
          [Type.Literal('bound'), Type.Literal('held'), Type.Literal('cooling'), Type.Literal('reserved')],
          { description: 'of the lease of the address; reserved where nobody has or keeps it' },
        ),
      }),
    ),
    more: More,
  },
  { $id: 'SearchReply' },
)
export type SearchReply = Static<typeof SearchReply>

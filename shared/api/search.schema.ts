import { Type, type Static } from 'typebox'
import { More } from './listing-query.schema.ts'
import { LeaseItem, ReserveReply } from './listing.schema.ts'

/** What is known of whatever a person remembers of a pod: a part of its name, namespace or owner, of an address or a container. */

export const SearchQuery = Type.Object(
  {
    text: Type.String({
      ...{ minLength: 1, maxLength: 300 },
      description:
        'a part of an address, of NAMESPACE/POD, of an owner or a note, the beginning of the ID of a container, or all of the name of a node or a state: bound or leased, held, cooling, reserved; upper and lower case are the same',
    }),
    limit: Type.Optional(
      Type.String({
        pattern: '^([1-9][0-9]?|100)$',
        description: 'at most so many of each kind, up to 100; 50 unless given',
      }),
    ),
  },
  { additionalProperties: false },
)

export const SearchReply = Type.Object(
  {
    leases: Type.Array(LeaseItem, { description: 'in the order of their addresses' }),
    reservations: Type.Array(ReserveReply),
    more: More,
  },
  { $id: 'SearchReply' },
)
export type SearchReply = Static<typeof SearchReply>

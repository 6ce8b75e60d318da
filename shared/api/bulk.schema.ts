import { Type, type Static } from 'typebox'
import { ReserveRequest } from './listing.schema.ts'

/** What is done to many addresses at once: first as a plan, which changes nothing, then address by address. */

/** How many addresses one request may name, ranges counted out. */
export const mostAddresses = 4096

const Addresses = Type.String({
  ...{ minLength: 1, maxLength: 200 },
  description: 'an address, or a range such as 10.22.0.50-10.22.0.60',
})

const place = { addresses: Addresses, segment: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })) }

const apply = Type.Boolean({ description: 'false: only say what would become of each' })

const strict = { additionalProperties: false }

export const ReserveManyRequest = Type.Object(
  {
    apply,
    items: Type.Array(
      Type.Object(
        {
          ...place,
          owner: ReserveRequest.properties.owner,
          note: ReserveRequest.properties.note,
        },
        strict,
      ),
      { maxItems: mostAddresses },
    ),
  },
  { $id: 'ReserveManyRequest', ...strict },
)
export type ReserveManyRequest = Static<typeof ReserveManyRequest>

export const UnreserveManyRequest = Type.Object(
  { apply, items: Type.Array(Type.Object(place, strict), { maxItems: mostAddresses }) },
  { $id: 'UnreserveManyRequest', ...strict },
)
export type UnreserveManyRequest = Static<typeof UnreserveManyRequest>

export const ReleaseManyRequest = Type.Object(
  {
    apply,
    items: Type.Array(
      Type.Object(
        {
          ...place,
          since: Type.Optional(
            Type.String({
              format: 'date-time',
              description: 'of the lease that was seen; another one that has come meanwhile is left alone',
            }),
          ),
        },
        strict,
      ),
      { maxItems: mostAddresses },
    ),
  },
  { $id: 'ReleaseManyRequest', ...strict },
)
export type ReleaseManyRequest = Static<typeof ReleaseManyRequest>

export const BulkVerdict = Type.Enum(['change', 'unchanged', 'stays', 'refused'], {
  description:
    'change: it is done, or would be. unchanged: it is so already. stays: a sandbox has the address, which ends with that ' +
    'sandbox alone. refused: it cannot be done.',
})
export type BulkVerdict = Static<typeof BulkVerdict>

export const BulkItem = Type.Object(
  {
    segment: Type.String(),
    address: Type.String(),
    verdict: BulkVerdict,
    reason: Type.String({ description: 'what becomes of it, or why nothing does' }),
    hint: Type.String({ description: "what to do about it; '' where there is nothing to do" }),
    code: Type.Union([Type.String(), Type.Null()], { description: 'of the problem, where it is refused' }),
  },
  { $id: 'BulkItem' },
)
export type BulkItem = Static<typeof BulkItem>

export const BulkReply = Type.Object(
  {
    applied: Type.Boolean(),
    items: Type.Array(BulkItem, { description: 'in the order of the request, one for each address' }),
  },
  { $id: 'BulkReply' },
)
export type BulkReply = Static<typeof BulkReply>

import { Type, type Static } from 'typebox'
import { Count, LeaseItem, ReservationItem } from './listing.schema.ts'

/** A pool as a map of its addresses, for whoever draws one: in blocks, down to single addresses. */

/** How many addresses a block or an answer has at most; a block of so many is drawn address by address. */
export const blockSize = 256

export const MapState = Type.Union(
  [
    Type.Literal('bound'),
    Type.Literal('held'),
    Type.Literal('cooling'),
    Type.Literal('aside'),
    Type.Literal('reserved'),
    Type.Literal('free'),
    Type.Literal('unusable'),
  ],
  {
    description:
      'bound, held, cooling: of its lease. aside: put aside, since another machine on the network answers for it. reserved: ' +
      'promised, and not in use. free: not in use. unusable: the pool never gives it.',
  },
)
export type MapState = Static<typeof MapState>

export const MapCounts = Type.Object(
  {
    bound: Count,
    held: Count,
    cooling: Count,
    aside: Count,
    reserved: Count,
    free: Count,
    unusable: Count,
  },
  { description: 'addresses by their state; the sum is the size of the block' },
)
export type MapCounts = Static<typeof MapCounts>

export const MapBlock = Type.Object({ cidr: Type.String(), counts: MapCounts }, { $id: 'MapBlock' })
export type MapBlock = Static<typeof MapBlock>

export const MapAddress = Type.Object(
  {
    address: Type.String(),
    state: MapState,
    why: Type.Union([Type.String(), Type.Null()], {
      description: 'why the pool does not give it, such as "the gateway"; null where it does',
    }),
    lease: Type.Union([LeaseItem, Type.Null()]),
    reservation: Type.Union([ReservationItem, Type.Null()]),
  },
  { $id: 'MapAddress' },
)
export type MapAddress = Static<typeof MapAddress>

export const PoolMapReply = Type.Object(
  {
    pool: Type.String(),
    segment: Type.String(),
    ranges: Type.Array(
      Type.Object({
        subnet: Type.String(),
        first: Type.String(),
        last: Type.String(),
        gateway: Type.String(),
        view: Type.String({ description: 'the smallest block worth drawing that has the whole range' }),
      }),
      { description: 'of the pool, in its order' },
    ),
    within: Type.String({ description: 'the block that this answer is about, in CIDR notation' }),
    counts: MapCounts,
    detail: Type.Union([Type.Literal('blocks'), Type.Literal('addresses')]),
    whole: Type.Boolean({
      description:
        'whether `blocks` are all there are; else, in a block of more than 65,536 addresses, only those in which somebody has, ' +
        'keeps or reserves an address',
    }),
    blocks: Type.Array(MapBlock, { maxItems: blockSize }),
    addresses: Type.Array(MapAddress, {
      maxItems: blockSize,
      description: 'those that are not free; with detail "addresses"',
    }),
  },
  { $id: 'PoolMapReply' },
)
export type PoolMapReply = Static<typeof PoolMapReply>

export const FreeingReply = Type.Object(
  {
    freeing: Type.Array(LeaseItem, {
      description: 'kept and resting addresses that come free by themselves, the next one first',
    }),
    more: Type.Integer({ description: 'how many of them are not listed' }),
  },
  { $id: 'FreeingReply' },
)
export type FreeingReply = Static<typeof FreeingReply>

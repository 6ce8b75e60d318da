import { Type, type Static } from 'typebox'
import { AttachmentItem, LeaseItem, LeaseState, ReservationItem } from './listing.schema.ts'

/** What operators ask of one address: what is known of it now, who had it when, and that it be released. */

const Time = Type.String({ format: 'date-time' })

export const TenureItem = Type.Object(
  {
    id: Type.Integer({ description: 'grows with time; names the place where a next page begins' }),
    segment: Type.String(),
    address: Type.String(),
    from: Time,
    to: Type.Union([Time, Type.Null()], { description: 'null while it lasts' }),
    state: LeaseState,
    pool: Type.String(),
    network: Type.String(),
    pod: LeaseItem.properties.pod,
    containerId: Type.Union([Type.String(), Type.Null()], {
      description: 'null while kept or resting for a pod',
    }),
    ifname: Type.String(),
    node: Type.String(),
    source: LeaseItem.properties.source,
    until: Type.Union([Time, Type.Null()], { description: 'until when it was to be kept, or to rest' }),
    holderSince: Type.String({
      format: 'date-time',
      description: 'since when its holder had the address without a gap, over restarts',
    }),
    ended: Type.Union([Type.String(), Type.Null()], {
      description: 'why; null while it lasts. With a text here `to` may be null: then it is not known when',
    }),
  },
  { $id: 'TenureItem' },
)
export type TenureItem = Static<typeof TenureItem>

export const HistoryReply = Type.Object(
  {
    history: Type.Array(TenureItem, { description: 'newest first' }),
    coverage: Type.Array(
      Type.Object({
        node: Type.String(),
        from: Type.Union([Time, Type.Null()], { description: 'null: it has no history' }),
        to: Type.Union([Time, Type.Null()], { description: 'null: up to now' }),
      }),
      {
        description:
          'of which time the history of which node is whole. What its daemon did at another time is not known, and is not in the answer',
      },
    ),
    notKnown: Type.Array(Type.String(), {
      description: 'of which node and time that was asked for there is no history, for people',
    }),
  },
  { $id: 'HistoryReply' },
)
export type HistoryReply = Static<typeof HistoryReply>

export const HistoryCheck = Type.Object(
  {
    node: Type.String(),
    entries: Type.Integer(),
    unlinked: Type.Integer({ description: 'entries of versions that made no links' }),
    pruned: Type.Boolean({ description: 'whether older entries were pruned by the limits of the history' }),
    begins: Type.Array(Type.Object({ id: Type.Integer(), at: Time }), {
      description: 'entries with which a chain of links begins',
    }),
    last: Type.Union(
      [
        Type.Object({
          id: Type.Integer(),
          at: Time,
          link: Type.Union([Type.String(), Type.Null()], { description: 'SHA-256, base64url' }),
        }),
        Type.Null(),
      ],
      { description: 'the newest entry; null where there is none' },
    ),
    faults: Type.Array(
      Type.Object({
        kind: Type.Union([Type.Literal('changed'), Type.Literal('missing')]),
        from: Type.Integer({ description: 'ID of the first entry concerned' }),
        to: Type.Integer({ description: 'ID of the last one' }),
        at: Type.String({ format: 'date-time', description: 'when the entry was written at which it shows' }),
      }),
    ),
  },
  { $id: 'HistoryCheck' },
)
export type HistoryCheck = Static<typeof HistoryCheck>

export const ExportedEntry = Type.Object(
  {
    recorder: Type.String({ description: 'the node whose history it is of' }),
    previous: Type.Union([Type.String(), Type.Null()], {
      description:
        'the link of the entry before it; "" where a chain begins, null where that entry was pruned and its link is not known',
    }),
    pruned: Type.Optional(
      Type.Integer({ description: 'so many entries right before it were pruned; absent: none' }),
    ),
    id: Type.Integer(),
    at: Type.Number({ description: 'milliseconds since the epoch' }),
    event: Type.String({ description: 'bound, moved, held, cooling, free or undone' }),
    segment: Type.String(),
    address: Type.String(),
    link: Type.Optional(
      Type.String({
        description:
          'SHA-256, base64url, over `previous`, a line feed, and the entry without recorder, previous, pruned and link as JSON with its keys in order; absent in entries of older versions',
      }),
    ),
  },
  {
    $id: 'ExportedEntry',
    description: 'An entry of the history as it stands in the store: what its link covers.',
    additionalProperties: true,
  },
)

export const HistoryEntriesReply = Type.Object(
  {
    entries: Type.Array(ExportedEntry, { description: 'the oldest first' }),
  },
  { $id: 'HistoryEntriesReply' },
)
export type HistoryEntriesReply = Static<typeof HistoryEntriesReply>

export const AddressState = Type.Union(
  [
    Type.Literal('bound'),
    Type.Literal('held'),
    Type.Literal('cooling'),
    Type.Literal('expired'),
    Type.Literal('fallback'),
    Type.Literal('reserved'),
    Type.Literal('free'),
    Type.Literal('unusable'),
    Type.Literal('outside'),
  ],
  {
    description:
      'bound, held, cooling: of its lease. expired: kept or resting, but its time is over. fallback: given by the plugin of ' +
      '"ipam.fallback". reserved: promised, and not in use. free: a pool can give it. unusable: no pool can. outside: of ' +
      'no pool known so far.',
  },
)
export type AddressState = Static<typeof AddressState>

export const AddressReply = Type.Object(
  {
    segment: Type.String(),
    address: Type.String(),
    state: AddressState,
    sentence: Type.String({ description: 'the same for people, in one line' }),
    pool: Type.Union([Type.String(), Type.Null()], { description: 'the pool that has it in its subnets' }),
    unusable: Type.Union([Type.String(), Type.Null()], {
      description: 'why that pool cannot give it, such as "the gateway of 10.22.0.0/16"',
    }),
    lease: Type.Union([LeaseItem, Type.Null()]),
    holderSince: Type.Union([Time, Type.Null()], {
      description: 'since when the holder of the lease has the address without a gap, over restarts',
    }),
    attachment: Type.Union(
      [
        Type.Object({
          ...AttachmentItem.properties,
          provedDead: Type.Boolean({ description: 'whether this node can prove that its sandbox is gone' }),
        }),
        Type.Null(),
      ],
      { description: 'the sandbox that has the address' },
    ),
    nodeSilence: Type.Union(
      [
        Type.Object({
          node: Type.String(),
          state: Type.Union([Type.Literal('unpromised'), Type.Literal('counting'), Type.Literal('over')], {
            description:
              'unpromised: that node does not tell that it lives. counting: until its addresses may be taken over. over: ' +
              'they may be.',
          }),
          silentSeconds: Type.Union([Type.Number(), Type.Null()], {
            description: 'for how long this daemon has seen nothing new of the node',
          }),
          neededSeconds: Type.Union([Type.Number(), Type.Null()], {
            description: 'for how long a node has to be silent',
          }),
        }),
        Type.Null(),
      ],
      {
        description:
          "takeover by time of an address of another node's pod in mode underlay or macvlan; null where it is off or no matter",
      },
    ),
    reservation: Type.Union([ReservationItem, Type.Null()]),
    tenures: Type.Array(TenureItem, { description: 'the last ones, newest first' }),
    elsewhere: Type.Array(Type.String(), { description: 'other segments in which a pool has this address' }),
  },
  { $id: 'AddressReply' },
)
export type AddressReply = Static<typeof AddressReply>

export const ReleaseReply = Type.Object(
  {
    released: LeaseItem,
    reservation: Type.Union([ReservationItem, Type.Null()], { description: 'a reservation stays' }),
  },
  { $id: 'ReleaseReply' },
)
export type ReleaseReply = Static<typeof ReleaseReply>

/** By what a dry run is known again. */
const AgreedRelease = Type.Object(
  {
    containerId: Type.Union([Type.String(), Type.Null()]),
    since: Time,
    warned: Type.Optional(Type.Boolean({ description: 'whether there was a warning' })),
  },
  {
    description:
      'with force: what a dry run has shown; nothing is released where another sandbox has it by now, or there is a warning that was not shown',
  },
)

export const ReleaseRequest = Type.Object(
  {
    force: Type.Optional(
      Type.Boolean({ description: 'also where a sandbox has the address: that is cut off' }),
    ),
    poweredOff: Type.Optional(
      Type.Boolean({ description: 'with force: the machine of its node is off, whatever else is known' }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'with force: what would be done, and nothing is' })),
    of: Type.Optional(AgreedRelease),
  },
  { $id: 'ReleaseRequest', additionalProperties: false },
)
export type ReleaseRequest = Static<typeof ReleaseRequest>

export const ForcedReleasePlan = Type.Object({
  way: Type.Union(
    [
      Type.Literal('kept'),
      Type.Literal('ended'),
      Type.Literal('cut-off'),
      Type.Literal('by-its-node'),
      Type.Literal('by-word'),
    ],
    {
      description:
        'kept: no sandbox has it. ended: its sandbox is gone. cut-off: this daemon cuts it off. by-its-node: the daemon of its ' +
        'node does. by-word: no daemon can; the operator has said that the machine is off.',
    },
  ),
  says: Type.String({ description: 'to whom it is done, for people' }),
  others: Type.Array(Type.String(), {
    description: 'other addresses of the same sandbox, which end with it',
  }),
  warning: Type.Union([Type.String(), Type.Null()], { description: 'what happens where the word is wrong' }),
  of: AgreedRelease,
})
export type ForcedReleasePlan = Static<typeof ForcedReleasePlan>

export const ForcedReleaseReply = Type.Object(
  {
    plan: ForcedReleasePlan,
    reply: Type.Union(
      [
        Type.Object({
          released: LeaseItem,
          after: Type.Union([LeaseItem, Type.Null()], { description: 'how it cools down; null: it is free' }),
        }),
        Type.Null(),
      ],
      { description: 'null: a dry run' },
    ),
  },
  { $id: 'ForcedReleaseReply' },
)
export type ForcedReleaseReply = Static<typeof ForcedReleaseReply>

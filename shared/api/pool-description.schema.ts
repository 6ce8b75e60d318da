import { Type, type Static } from 'typebox'
import { Count } from './listing.schema.ts'

/** What a pool is: its ranges and what of them is never assigned, its rules, and addresses that nobody has. */

export const RangeDescription = Type.Object(
  {
    set: Type.Integer({ description: 'a pod gets one address of each set' }),
    subnet: Type.String(),
    first: Type.String(),
    last: Type.String(),
    gateway: Type.String(),
    size: Count,
    capacity: Count,
    draining: Type.Optional(Type.Boolean({ description: 'no new pod gets an address of it' })),
    never: Type.Array(Type.Object({ first: Type.String(), last: Type.String(), why: Type.String() }), {
      description: 'what of the range is never assigned',
    }),
  },
  { $id: 'RangeDescription' },
)
export type RangeDescription = Static<typeof RangeDescription>

export const PoolDescription = Type.Object(
  {
    name: Type.String(),
    segment: Type.String(),
    origin: Type.Union([Type.Literal('network'), Type.Literal('config'), Type.Literal('api')], {
      description: "network: the ranges of a conflist. config: the daemon's file. api: an IPPool object.",
    }),
    ranges: Type.Array(RangeDescription),
    rules: Type.Array(Type.String(), { description: 'each has to allow a pod; none allow all' }),
    retention: Type.String({ description: 'of pods that say nothing' }),
    cooldown: Type.String({ description: 'how long dynamic choice leaves a released address alone' }),
    preferFor: Type.String({ description: 'the same, where a pod had asked for it by name' }),
    strategy: Type.String(),
    free: Type.Array(Type.String(), {
      description:
        'the first addresses of each family that are free, not reserved and not cooling down; as many as were asked for',
    }),
  },
  { $id: 'PoolDescription' },
)
export type PoolDescription = Static<typeof PoolDescription>

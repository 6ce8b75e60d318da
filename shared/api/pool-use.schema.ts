import { Type, type Static } from 'typebox'
import { Forecast } from './forecast.schema.ts'
import { Count, Drains } from './listing.schema.ts'

/** How full pools were over time, and when they will be full if they go on so. */

export const UseSample = Type.Object(
  {
    at: Type.String({ format: 'date-time' }),
    used: Type.Integer({ description: 'addresses that pods had' }),
    held: Type.Integer({ description: 'addresses that were kept or reserved' }),
  },
  { $id: 'UseSample' },
)
export type UseSample = Static<typeof UseSample>

export const PoolUse = Type.Object(
  {
    name: Type.String(),
    segment: Type.String(),
    family: Type.Union([Type.Literal('IPv4'), Type.Literal('IPv6')]),
    capacity: Count,
    free: Count,
    drains: Type.Optional(Drains),
    samples: Type.Array(UseSample, { description: 'the oldest first; the last one is of now' }),
    forecast: Forecast,
  },
  { $id: 'PoolUse' },
)
export type PoolUse = Static<typeof PoolUse>

export const PoolUseReply = Type.Object({ use: Type.Array(PoolUse) }, { $id: 'PoolUseReply' })
export type PoolUseReply = Static<typeof PoolUseReply>

import { Type, type Static } from 'typebox'
import type { Place } from '../remedy/place.ts'

/**
 * What GET /v1/events of the page's address sends, as server-sent events: "hello" first, then "change" and "findings" when
 * something has changed, and "beat" while nothing has, so that a reader can tell silence from a connection that is dead.
 */

export const HelloEvent = Type.Object(
  {
    node: Type.String(),
    version: Type.String(),
    startedAt: Type.String({ format: 'date-time', description: 'of the daemon' }),
    beatSeconds: Type.Integer({ description: 'nothing is sent for no longer than this' }),
    place: Type.Optional(
      Type.Unsafe<Place>({ type: 'object', description: 'where the daemon runs: what commands depend on' }),
    ),
  },
  { $id: 'HelloEvent' },
)
export type HelloEvent = Static<typeof HelloEvent>

export const ChangeEvent = Type.Object(
  {
    pools: Type.Union([Type.Array(Type.String(), { maxItems: 64 }), Type.Null()], {
      description: 'pools of which an address has changed; null: too many to name, or not known',
    }),
  },
  { $id: 'ChangeEvent' },
)
export type ChangeEvent = Static<typeof ChangeEvent>

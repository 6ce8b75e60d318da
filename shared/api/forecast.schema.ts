import { Type, type Static } from 'typebox'

/** When one family of a pool is full. */

export const Forecast = Type.Object(
  {
    fullAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'when it is full if it goes on growing so; null where it is not known or does not grow',
    }),
    says: Type.String({ description: 'the same in words, with the reason' }),
  },
  { $id: 'Forecast' },
)
export type Forecast = Static<typeof Forecast>

import { Type, type Static } from 'typebox'

/** What the daemon says of a configuration file that is not in force yet. */

export const ConfigCheckRequest = Type.Object(
  {
    text: Type.String({ description: 'the file' }),
    path: Type.String({ description: 'what messages call it' }),
  },
  { $id: 'ConfigCheckRequest' },
)
export type ConfigCheckRequest = Static<typeof ConfigCheckRequest>

const Names = (description: string) => Type.Array(Type.String(), { description })

export const ConfigCheckReply = Type.Object(
  {
    refused: Type.Union(
      [
        Type.Object({
          code: Type.String(),
          message: Type.String(),
          details: Type.String(),
          hint: Type.String(),
        }),
        Type.Null(),
      ],
      { description: 'why it would not be put in force, also at a start; null: it would be' },
    ),
    atStart: Names('keys that change, and are read only when the daemon starts'),
    added: Names('pools'),
    changed: Names('pools that get other ranges or another segment'),
    removed: Names('pools'),
    notes: Names('reservations that would be in no pool, and pools that do not count'),
  },
  { $id: 'ConfigCheckReply' },
)
export type ConfigCheckReply = Static<typeof ConfigCheckReply>

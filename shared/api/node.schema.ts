import { Type, type Static } from 'typebox'

/** What an operator says of another node. */

export const ForgetNodeReply = Type.Object(
  {
    node: Type.String(),
    gone: Type.Object(
      {
        since: Type.String({ format: 'date-time' }),
        by: Type.String({ description: 'the node where it was said, or which was called so' }),
      },
      { description: 'since when nobody waits for it' },
    ),
    changed: Type.Boolean({ description: 'false: that had been said before' }),
    asked: Type.Boolean({
      description:
        'whether the daemon that has claimed its name was asked first if it lives, and said nothing; false: nobody has claimed it, or it was gone already',
    }),
    bound: Type.Integer({ description: 'addresses that are bound there' }),
    waitsFor: Type.Array(Type.String(), { description: 'nodes that are still waited for' }),
  },
  { $id: 'ForgetNodeReply' },
)
export type ForgetNodeReply = Static<typeof ForgetNodeReply>

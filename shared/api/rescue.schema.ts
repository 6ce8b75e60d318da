import { Type, type Static } from 'typebox'

/** How the file of a ledger was written anew; of `ipkeeperctl rescue` without a daemon also what was wrong with it. */
export const RescueReply = Type.Object(
  {
    needed: Type.Boolean({ description: 'false: the file is as it should be, and nothing was done' }),
    file: Type.String({ description: 'the new file' }),
    kinds: Type.Record(Type.String(), Type.Integer(), { description: 'records of each kind' }),
    notes: Type.Integer({ description: 'what the journal of a shared store notes' }),
    history: Type.Integer({ description: 'entries of the history that could still be read' }),
    unreadable: Type.Array(Type.String(), { description: 'what of the history could not' }),
    aside: Type.Array(Type.String(), { description: 'where what stood there is now' }),
    inUse: Type.Boolean({ description: 'the daemon goes on with it; false: the next daemon will' }),
    faults: Type.Optional(Type.Array(Type.String(), { description: 'what was wrong with the old file' })),
    reserved: Type.Optional(
      Type.Array(Type.Object({ segment: Type.String(), address: Type.String(), by: Type.String() }), {
        description: 'addresses whose lease is lost; they are reserved, so that no pod gets them',
      }),
    ),
    unknown: Type.Optional(Type.Integer({ description: 'acknowledged changes of which nothing is known' })),
  },
  { $id: 'RescueReply' },
)
export type RescueReply = Static<typeof RescueReply>

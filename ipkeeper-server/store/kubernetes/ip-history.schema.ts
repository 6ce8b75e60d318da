import { Type, type Static } from 'typebox'
import { moment, objectSchemaVersion, text } from './object.schema.ts'

const entryId = (description: string) => Type.Integer({ minimum: 1, description })

/** An IPHistory: a part of what the daemon of a node has recorded. */
export const IPHistorySpec = Type.Object(
  {
    schema: objectSchemaVersion,
    node: text(253, 'The node whose daemon recorded it.'),
    stretch: text(16, 'What its journal sent without a break.'),
    first: entryId('ID of its first entry.'),
    last: entryId('ID of its last entry.'),
    from: moment('When the first one was written, by the clock of the node.'),
    to: moment('Until when nothing else was recorded.'),
    entries: entryId('How many there are.'),
    data: text(1_000_000, 'The entries: one JSON text per line, compressed by gzip, base64.'),
  },
  { description: 'The part.' },
)
export type IPHistorySpec = Static<typeof IPHistorySpec>

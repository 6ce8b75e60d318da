import { Type, type Static } from 'typebox'
import { AttachmentEntry, HolderEntry } from './ip-lease.schema.ts'
import {
  canonicalAddress,
  generation,
  moment,
  objectSchemaVersion,
  segmentName,
  text,
} from './object.schema.ts'

/** An IPHolder: what one interface of a pod has. Written before its leases are, so that two nodes cannot both add it. */
export const IPHolderSpec = Type.Object(
  {
    schema: objectSchemaVersion,
    generation,
    holder: HolderEntry,
    attachment: Type.Optional(AttachmentEntry),
    sandbox: Type.Optional(
      Type.Object(
        {
          node: text(253, 'The node that it is on.'),
          podUid: Type.Optional(text(256, 'UID of the pod, where the runtime tells it.')),
          since: moment('When its ADD began.'),
        },
        { description: 'What other nodes have to know of the attachment.' },
      ),
    ),
    leases: Type.Array(
      Type.Object({ segment: segmentName('Of the address.'), address: canonicalAddress('The address.') }),
      {
        maxItems: 64,
        description: 'Its addresses, one for each range set.',
      },
    ),
  },
  { description: 'One interface of a pod, and what it has. Written by ipkeeper alone.' },
)

export type IPHolderSpec = Static<typeof IPHolderSpec>

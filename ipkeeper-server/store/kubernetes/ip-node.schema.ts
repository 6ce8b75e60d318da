import { Type, type Static } from 'typebox'
import { generation, moment, rule, objectSchemaVersion, text } from './object.schema.ts'

const claimProperties = {
  id: text(64, 'Of its state folder.'),
  session: text(64, 'Of its runs in one boot.'),
  bootId: text(64, 'Of its kernel.'),
  machineId: Type.Optional(text(64, 'A keyed hash of its machine ID.')),
  hardware: Type.Optional(text(64, 'A keyed hash of what its hardware is known by.')),
  since: moment('When it was claimed, by its clock.'),
}
const claim = (description: string) => Type.Object(claimProperties, { description })

const goneMark = (description: string) =>
  Type.Object(
    {
      since: moment('Since when, by the clock of that node.'),
      by: text(253, 'The node where that was said, or which was called so.'),
    },
    { description },
  )
const former = Type.Object(
  {
    ...claimProperties,
    gone: Type.Optional(goneMark('It was, when another machine claimed the name.')),
  },
  { description: 'One of them.' },
)

/** An IPNode: what a node tells the others of itself. */
export const IPNodeSpec = Type.Object(
  {
    schema: objectSchemaVersion,
    generation,
    name: text(253, "The node's name, as it stands in leases."),
    addresses: Type.Array(
      Type.String({
        maxLength: 45,
        description: 'The address.',
        ...rule('isIP(self)', 'must be an IP address'),
      }),
      { maxItems: 64, description: 'By which other nodes reach it.' },
    ),
    since: moment('When it was first reported.'),
    stopsAfter: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'It serves no ADD once it has not reached the API for so many milliseconds; absent: it promises nothing of the kind.',
      }),
    ),
    renewedAt: Type.Optional(moment('By the clock of the node, with `stopsAfter`.')),
    claim: Type.Optional(claim('Whose the name is.')),
    challenge: Type.Optional(
      Type.Object(
        {
          ...claimProperties,
          askedOn: Type.Optional(
            text(
              253,
              'The node where an operator is about to declare this one gone; absent: who asks wants the name.',
            ),
          ),
        },
        { description: 'Who waits whether its claimant lives.' },
      ),
    ),
    refused: Type.Optional(text(64, 'Session of the last one that was refused.')),
    formers: Type.Optional(
      Type.Array(former, {
        maxItems: 64,
        description: 'Whose the name was, as long as there may be addresses of them under it.',
      }),
    ),
    epoch: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'How many times the API had lost objects, and one more, when the node last wrote there all that is bound on it; absent: 1.',
      }),
    ),
    owes: Type.Optional(
      Type.Literal(true, {
        description:
          'Something that is bound there has not been written yet, since the API has it in use on another node that had not written either.',
      }),
    ),
    gone: Type.Optional(goneMark('Nobody waits for the node: it is gone for good, or has another name.')),
    version: Type.Optional(text(64, 'Of its daemon.')),
    yields: Type.Optional(
      Type.Array(
        Type.Object({
          network: text(253, 'Its network.'),
          containerId: text(253, 'Its container.'),
          ifname: text(16, 'Its interface.'),
          segment: text(63, 'Of the address.'),
          address: Type.String({ maxLength: 45, description: 'The address that was released.' }),
          by: text(253, 'The node where that was said.'),
          since: moment('When, by the clock of that node.'),
          notHere: Type.Optional(
            Type.Boolean({
              description: 'The machine has no such sandbox: one that had the name before may run it.',
            }),
          ),
        }),
        {
          maxItems: 1024,
          description:
            'Sandboxes that have to give their addresses up, since an operator has released them by force: until the node has cut them off.',
        },
      ),
    ),
  },
  {
    description: 'What a node tells the others of itself. Written by ipkeeper alone.',
    ...rule('self.name == oldSelf.name', 'the name cannot be changed: delete the object and make another'),
  },
)

export type IPNodeSpec = Static<typeof IPNodeSpec>
export type ClaimEntry = Static<ReturnType<typeof claim>>
export type GoneEntry = Static<ReturnType<typeof goneMark>>
export type FormerEntry = Static<typeof former>
export type ChallengeEntry = NonNullable<IPNodeSpec['challenge']>

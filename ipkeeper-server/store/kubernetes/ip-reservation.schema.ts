import { Type, type Static } from 'typebox'
import {
  canonicalAddress,
  conditions,
  generation,
  moment,
  objectRetention,
  rule,
  objectSchemaVersion,
  segmentName,
  text,
  words,
} from './object.schema.ts'

/** Kinds of owners whose pods an address can be promised to. */
export const ownerKinds = ['StatefulSet', 'Deployment', 'DaemonSet', 'Job', 'CronJob', 'ReplicaSet'] as const

const Owner = Type.Object(
  {
    pod: Type.Optional(text(253, 'Name of a pod of this namespace; it need not exist.')),
    kind: Type.Optional(words([...ownerKinds], 'With `name`: any pod of this workload.')),
    name: Type.Optional(text(253, 'Name of the workload.')),
    external: Type.Optional(text(253, 'Name of an owner that is no pod, such as a printer.')),
  },
  {
    description: 'Whom the addresses are promised to: `pod`, or `kind` and `name`, or `external`.',
    ...rule(
      'has(self.kind) == has(self.name) && [has(self.pod), has(self.kind), has(self.external)].filter(x, x).size() == 1',
      'must have either pod, or kind and name, or external',
    ),
  },
)

/** An IPReservation: addresses promised to an owner, whether it exists or not. */
export const IPReservationSpec = Type.Object(
  {
    schema: objectSchemaVersion,
    owner: Owner,
    segment: segmentName('The segment of the addresses.', { default: 'default' }),
    addresses: Type.Array(canonicalAddress('An address.'), {
      minItems: 1,
      maxItems: 256,
      'x-kubernetes-list-type': 'set',
      description: 'What is promised.',
    }),
    retain: Type.Optional(
      objectRetention('What becomes of the addresses when a pod that says nothing of it gives them back.'),
    ),
    note: Type.Optional(text(1024, 'Why, for people.')),
    recorded: Type.Optional(
      Type.Object(
        { generation, since: moment('When it was made.') },
        { description: 'Written by ipkeeper where `ipkeeperctl reserve` made the object.' },
      ),
    ),
  },
  { description: 'Addresses that are promised to an owner.' },
)

export const IPReservationStatus = Type.Object({ conditions: Type.Optional(conditions) })

export type IPReservationSpec = Static<typeof IPReservationSpec>

import { Type, type Static } from 'typebox'
import {
  canonicalAddress,
  generation,
  moment,
  objectRetention,
  rule,
  objectSchemaVersion,
  segmentName,
  text,
  words,
} from './object.schema.ts'

/** Who an address belongs to. */
export const HolderEntry = Type.Object(
  {
    kind: words(['pod', 'container'], 'A container where the runtime named no pod.'),
    network: text(256, 'Name of the network.'),
    namespace: Type.Optional(text(63, "The pod's namespace.")),
    name: Type.Optional(text(253, "The pod's name.")),
    containerId: Type.Optional(text(256, 'ID of the container, where there is no pod.')),
    ifname: text(64, 'Interface in the pod.'),
  },
  {
    description: 'Who the address belongs to.',
    ...rule(
      "self.kind == 'pod' ? has(self.namespace) && has(self.name) && !has(self.containerId) : has(self.containerId) && !has(self.namespace) && !has(self.name)",
      'a pod has namespace and name, a container has containerId',
    ),
  },
)

export const AttachmentEntry = Type.Object(
  {
    network: text(256, 'Name of the network.'),
    containerId: text(256, 'ID of the sandbox.'),
    ifname: text(64, 'Interface in the pod.'),
  },
  { description: 'What an ADD made and a DEL ends.' },
)

/** An IPLease: one address in somebody's hands. Absent stands for null. */
export const IPLeaseSpec = Type.Object(
  {
    schema: objectSchemaVersion,
    generation,
    segment: segmentName('The L2/L3 domain in which the address is unique.'),
    address: canonicalAddress('The address.'),
    prefixLength: Type.Integer({ minimum: 0, maximum: 128, description: 'Of its network.' }),
    gateway: canonicalAddress("The pods' gateway."),
    state: words(
      ['bound', 'held', 'cooling'],
      'bound: an attachment has it. held: kept for its holder. cooling: free for requests by name, rests for others.',
    ),
    pool: text(256, 'The pool that it was given from.'),
    network: text(256, 'The network that it was given for.'),
    rangeSet: Type.Integer({ minimum: 0, description: 'Index of the range set that it was given from.' }),
    holder: HolderEntry,
    podUid: Type.Optional(text(256, 'UID of the pod, where the runtime tells it.')),
    workload: Type.Optional(
      Type.Object(
        {
          namespace: text(63, 'Its namespace.'),
          kind: Type.Optional(text(63, 'Absent where only the name of the pod tells.')),
          name: text(253, 'Its name.'),
          apiVersion: Type.Optional(text(317, 'From the API; absent when it was only inferred.')),
          uid: Type.Optional(text(256, 'From the API; absent when it was only inferred.')),
        },
        { description: 'The object behind the pod, as far as it is known.' },
      ),
    ),
    attachment: Type.Optional(AttachmentEntry),
    node: text(253, 'The node that it is, or was last, in use on.'),
    named: Type.Boolean({ description: 'Asked for by name, not chosen.' }),
    source: text(1024, 'Which channel asked, such as "annotation ipkeeper.io/ip"; "dynamic" when none did.'),
    retain: objectRetention('What becomes of it at DEL.'),
    carried: Type.Optional(
      Type.Enum(['routed', 'link'], {
        description:
          'How other nodes reach the address: routed by its node, or on a link that they have too. Absent where the wiring is that of another plugin.',
      }),
    ),
    ownLink: Type.Optional(
      Type.Literal(true, {
        description: "The pod has its link for itself, and its MAC address is in nobody's way.",
      }),
    ),
    mac: Type.Optional(text(64, 'MAC address that goes with it.')),
    since: moment('When it came into this state.'),
    until: Type.Optional(moment('When it becomes free; absent for never, and while it is bound.')),
    remembered: Type.Optional(
      Type.Literal(true, { description: 'Stays when its time is over, to know when it was last used.' }),
    ),
  },
  {
    description: 'An address in use. Written by ipkeeper alone.',
    ...rule(
      'self.segment == oldSelf.segment && self.address == oldSelf.address',
      'segment and address cannot be changed: delete the object and make another',
    ),
  },
)

export type IPLeaseSpec = Static<typeof IPLeaseSpec>
export type HolderEntry = Static<typeof HolderEntry>

/**
 * Writes deploy/crds/: the custom resources, from the schemas of what is in them.
 *
 *   node scripts/generate-crds.ts
 */
import { stringify } from 'yaml'
import { PoolEntry } from '../ipkeeper-server/config/pool-entry.schema.ts'
import {
  apiGroup,
  apiVersion,
  allResources as resources,
} from '../ipkeeper-server/store/kubernetes/resources.ts'
import { IPHolderSpec } from '../ipkeeper-server/store/kubernetes/ip-holder.schema.ts'
import { IPHistorySpec } from '../ipkeeper-server/store/kubernetes/ip-history.schema.ts'
import { IPNodeSpec } from '../ipkeeper-server/store/kubernetes/ip-node.schema.ts'
import { IPLeaseSpec } from '../ipkeeper-server/store/kubernetes/ip-lease.schema.ts'
import { IPPoolStatus, PoolRecorded, poolRules } from '../ipkeeper-server/store/kubernetes/ip-pool.schema.ts'
import {
  IPReservationSpec,
  IPReservationStatus,
} from '../ipkeeper-server/store/kubernetes/ip-reservation.schema.ts'
import { objectSchemaVersion } from '../ipkeeper-server/store/kubernetes/object.schema.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'
import { structural, withRules, type Schema } from './structural-schema.ts'

interface Column {
  readonly name: string
  readonly type: 'string' | 'date' | 'integer'
  readonly jsonPath: string
  readonly description: string
  /** 1: with -o wide only. */
  readonly priority?: 1
}

interface Resource {
  readonly description: string
  readonly scope: 'Cluster' | 'Namespaced'
  readonly shortNames: readonly string[]
  readonly spec: Schema
  readonly status?: Schema
  readonly longestName?: number
  /** Of the object as a whole. */
  readonly rules?: readonly { readonly rule: string; readonly message: string }[]
  readonly columns: readonly Column[]
  readonly selectable: readonly string[]
}

const column = (name: string, jsonPath: string, description: string, priority?: 1): Column => ({
  name,
  type: 'string',
  jsonPath,
  description,
  ...(priority && { priority }),
})
const age = (name: string, jsonPath: string, description: string, priority?: 1): Column => ({
  ...column(name, jsonPath, description, priority),
  type: 'date',
})

const poolKeys = Object.fromEntries(
  Object.entries(structural(PoolEntry).properties ?? {}).filter(([key]) => key !== 'name'),
)

const tail = 'self.metadata.name.substring(size(self.spec.segment) + 1)'
/** leaseName, in CEL: three figures for each part of an IPv4 address, four for each of an IPv6 address. */
const namedByItsAddress = [
  "self.metadata.name.startsWith(self.spec.segment + '-') &&",
  `(self.spec.address.contains(':')`,
  `? size(${tail}) == 39 && isIP(${tail}.replace('-', ':')) && ip(${tail}.replace('-', ':')) == ip(self.spec.address)`,
  `: ${tail}.matches('^[0-9]{3}-[0-9]{3}-[0-9]{3}-[0-9]{3}$')`,
  `&& ${tail}.split('-', 4).map(x, int(x)) == self.spec.address.split('.', 4).map(x, int(x)))`,
].join(' ')

type Kind = keyof typeof resources

const table: Readonly<Record<Kind, Resource>> = {
  IPPool: {
    description:
      'A pool of addresses: what the file of the daemon calls a pool, with the same keys. Its name is the name of the object.',
    scope: 'Cluster',
    shortNames: ['ipp'],
    spec: withRules(
      {
        type: 'object',
        description: 'The pool. One that makes no sense is left alone; the conditions of its status say why.',
        properties: {
          schema: structural(objectSchemaVersion),
          ...poolKeys,
          recorded: structural(PoolRecorded),
        },
      },
      poolRules,
    ),
    status: structural(IPPoolStatus),
    columns: [
      column('Ranges', '.status.ranges', 'Ranges in force.'),
      // A sum of both families would hide that one is full.
      ...(['4', '6'] as const).flatMap(family => [
        column(
          `V${family}Used`,
          `.status.ipv${family}.ratio`,
          `IPv${family} addresses in use, of all that it can give.`,
        ),
        column(
          `V${family}Held`,
          `.status.ipv${family}.held`,
          `IPv${family} addresses that are kept for their owners.`,
          1,
        ),
        column(`V${family}Free`, `.status.ipv${family}.free`, `IPv${family} addresses that can be given.`),
      ]),
      column('Segment', '.spec.segment', 'The domain in which its addresses are unique.', 1),
      column('Origin', '.spec.recorded.origin', 'Where it is from, if people did not make it here.'),
      column('Ready', '.status.conditions[?(@.type=="Ready")].status', 'Whether it is in force.'),
      age('Age', '.metadata.creationTimestamp', 'When it was made.'),
    ],
    selectable: [],
  },
  IPReservation: {
    description:
      'Addresses that are promised to a pod, to the pods of a workload, or to an owner that is no pod.',
    scope: 'Namespaced',
    shortNames: ['ipr'],
    spec: structural(IPReservationSpec),
    status: structural(IPReservationStatus),
    columns: [
      column('Addresses', '.spec.addresses', 'What is promised.'),
      column('Kind', '.spec.owner.kind', 'Kind of the workload that it is promised to.'),
      column(
        'Owner',
        ".spec.owner['name','pod','external']",
        'Name of the workload, of the pod, or of an owner that is no pod.',
      ),
      column('Pod', '.spec.owner.pod', 'Name of the pod that it is promised to.', 1),
      column('External', '.spec.owner.external', 'Name of an owner that is no pod.', 1),
      column('Segment', '.spec.segment', 'The segment of the addresses.', 1),
      column('Note', '.spec.note', 'Why.'),
      age('Age', '.metadata.creationTimestamp', 'When it was made.'),
    ],
    selectable: [],
  },
  IPLease: {
    description: "An address in somebody's hands.",
    scope: 'Cluster',
    shortNames: ['ipl'],
    spec: structural(IPLeaseSpec),
    // 63 of a segment, "-", and eight groups of four with seven "-".
    longestName: 103,
    rules: [
      { rule: namedByItsAddress, message: 'an IPLease is named by its segment and address: see leaseName' },
    ],
    columns: [
      column('Address', '.spec.address', 'The address.'),
      column('State', '.spec.state', 'bound, held or cooling.'),
      column('Pool', '.spec.pool', 'The pool that it is from.'),
      column('Namespace', '.spec.holder.namespace', "The pod's namespace."),
      column('Pod', '.spec.holder.name', "The pod's name."),
      column('Node', '.spec.node', 'The node that it is, or was last, in use on.'),
      age('Since', '.spec.since', 'When it came into this state.'),
      column('Until', '.spec.until', 'When it becomes free.', 1),
      column('Retain', '.spec.retain', 'What becomes of it at DEL.', 1),
      column('Workload', '.spec.workload.name', 'The object behind the pod.', 1),
      column('Container', '.spec.attachment.containerId', 'The sandbox that has it.', 1),
    ],
    selectable: [
      '.spec.node',
      '.spec.pool',
      '.spec.state',
      '.spec.address',
      '.spec.holder.namespace',
      '.spec.holder.name',
    ],
  },
  IPHolder: {
    description: 'One interface of a pod, and the addresses that it has.',
    scope: 'Cluster',
    shortNames: ['iph'],
    spec: structural(IPHolderSpec),
    columns: [
      column('Namespace', '.spec.holder.namespace', "The pod's namespace."),
      column('Pod', '.spec.holder.name', "The pod's name."),
      column('Network', '.spec.holder.network', 'The network.'),
      column('Interface', '.spec.holder.ifname', 'The interface in the pod.'),
      column('Node', '.spec.sandbox.node', 'The node that its sandbox is on.'),
      column('Leases', '.spec.leases', 'Its addresses.', 1),
      age('Since', '.spec.sandbox.since', 'When the ADD of its sandbox began.'),
    ],
    selectable: ['.spec.sandbox.node', '.spec.holder.namespace', '.spec.holder.name'],
  },
  IPNode: {
    description: 'What a node tells the others of itself.',
    scope: 'Cluster',
    shortNames: ['ipn'],
    spec: structural(IPNodeSpec),
    columns: [
      column('Addresses', '.spec.addresses', 'By which other nodes reach it.'),
      age('Since', '.spec.since', 'When it was first reported.'),
      age('Gone', '.spec.gone.since', 'Since when nobody waits for it.'),
    ],
    selectable: [],
  },
  IPHistory: {
    description: 'A part of what the daemon of a node has recorded: ipkeeperctl history reads it.',
    scope: 'Cluster',
    shortNames: ['iphist'],
    spec: structural(IPHistorySpec),
    columns: [
      column('Node', '.spec.node', 'The node whose daemon recorded it.'),
      { ...column('Entries', '.spec.entries', 'How many entries it has.'), type: 'integer' },
      age('From', '.spec.from', 'When the first one was written.'),
      age('To', '.spec.to', 'Until when nothing else was recorded.'),
    ],
    selectable: [],
  },
}

function definition(kind: Kind): object {
  const { description, scope, shortNames, spec, status, longestName, rules, columns, selectable } =
    table[kind]
  const { plural, singular } = resources[kind]
  const [, version] = apiVersion.split('/')
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${apiGroup}` },
    spec: {
      group: apiGroup,
      scope,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames, categories: ['ipkeeper'] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(status && { subresources: { status: {} } }),
          additionalPrinterColumns: columns,
          ...(selectable.length > 0 && { selectableFields: selectable.map(jsonPath => ({ jsonPath })) }),
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description,
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: {
                  type: 'object',
                  ...(longestName && { properties: { name: { type: 'string', maxLength: longestName } } }),
                },
                spec,
                ...(status && { status }),
              },
              ...(rules && { 'x-kubernetes-validations': rules }),
            },
          },
        },
      ],
    },
  }
}

const notice = `# Made by scripts/generate-crds.ts from the schemas in ipkeeper-server/store/kubernetes and
# ipkeeper-server/config; change those, then: make generate
`

export const customResources: readonly GeneratedFile[] = (Object.keys(table) as Kind[]).map(kind => ({
  path: `deploy/crds/${resources[kind].plural}.yaml`,
  generate: () => notice + stringify(definition(kind), { lineWidth: 0, aliasDuplicateObjects: false }),
}))

if (import.meta.main) for (const file of customResources) await writeGenerated(file)

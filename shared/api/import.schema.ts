import { Type, type Static } from 'typebox'

/** Adopting addresses that another IPAM gave: what was found, and what becomes of each. */

const text = (description: string) =>
  Type.Union([Type.String({ maxLength: 1024 }), Type.Null()], { description })

export const importSources = ['host-local', 'whereabouts', 'calico', 'kube-ovn', 'crd-ipkeeper'] as const
export type ImportSource = (typeof importSources)[number]

/** So many allocations are taken with one request: some hundred bytes each. */
export const mostAllocations = 2000

export const FoundAllocation = Type.Object(
  {
    origin: Type.String({
      maxLength: 4096,
      description: 'where it was found: the path of a file, or kind and name of an object',
    }),
    address: Type.String({ maxLength: 64 }),
    network: text('name of the network in the conflist; null where nothing tells it'),
    containerId: text('null where nothing tells it'),
    ifname: text('null where nothing tells it: then eth0'),
    pod: Type.Union(
      [
        Type.Object({
          namespace: Type.String({ maxLength: 253 }),
          name: Type.String({ maxLength: 253 }),
          uid: text('null where nothing tells it'),
        }),
        Type.Null(),
      ],
      { description: 'null for a container without a pod' },
    ),
    node: text('null: of this node, or nothing tells it'),
    mac: text('of the interface in the pod'),
    netns: text('path of the network namespace'),
    since: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
      description: 'when it was given, in milliseconds since the epoch',
    }),
    keeps: Type.Boolean({ description: 'whether it is kept for its pod when that is deleted' }),
    runtime: Type.Enum(['listed', 'cached', 'absent', 'unknown'], {
      description:
        'listed: a container runtime of this node lists the container. cached: none does, or it is stopped, but a ' +
        'result of it is cached here. absent: neither, though all were asked. unknown: neither, and not all could be asked',
    }),
  },
  { $id: 'FoundAllocation' },
)
export type FoundAllocation = Static<typeof FoundAllocation>

export const ImportRequest = Type.Object(
  {
    source: Type.Enum(importSources),
    apply: Type.Boolean({ description: 'false: nothing is changed' }),
    segment: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
    retain: Type.Optional(
      Type.String({ maxLength: 32, description: 'of all that is adopted, in place of what its pool says' }),
    ),
    networks: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
      maxItems: 1000,
      description:
        'network configurations whose "ipam" has the ranges of a network, in the keys of host-local',
    }),
    found: Type.Array(FoundAllocation, { maxItems: mostAllocations }),
  },
  { $id: 'ImportRequest', additionalProperties: false },
)
export type ImportRequest = Static<typeof ImportRequest>

export const ImportVerdict = Type.Enum(['adopt', 'ours', 'conflict', 'unfit', 'gone', 'elsewhere'], {
  description:
    'adopt: it is free here, and taken over. ours: the ledger has it so already. conflict: another holder has it, or ' +
    'two claim it. unfit: no pool can have it. gone: its container is no more. elsewhere: it is for another node.',
})
export type ImportVerdict = Static<typeof ImportVerdict>

export const ImportItem = Type.Object(
  {
    ...FoundAllocation.properties,
    segment: Type.String(),
    pool: Type.Union([Type.String(), Type.Null()]),
    verdict: ImportVerdict,
    as: Type.Union([Type.Enum(['bound', 'held']), Type.Null()], {
      description: 'bound: to its container. held: for a pod that has none now. null: not adopted',
    }),
    reason: Type.String(),
    hint: Type.String({ description: "what to do about it; '' where there is nothing to do" }),
  },
  { $id: 'ImportItem' },
)
export type ImportItem = Static<typeof ImportItem>

export const ImportReply = Type.Object(
  {
    node: Type.String(),
    applied: Type.Boolean(),
    items: Type.Array(ImportItem, { description: 'in the order of the request' }),
  },
  { $id: 'ImportReply' },
)
export type ImportReply = Static<typeof ImportReply>

import { ProblemItem } from './cni.schema.ts'
import { Type, type Static } from 'typebox'
import { Forecast } from './forecast.schema.ts'
import { More } from './listing-query.schema.ts'

/** What operators read: leases, pools, reservations, health and status. The CLI prints these same objects. */

export const LeaseState = Type.Union([Type.Literal('bound'), Type.Literal('held'), Type.Literal('cooling')], {
  description: 'bound: a pod has it. held: kept by retention. cooling: resting after its release.',
})

export const LeaseItem = Type.Object(
  {
    address: Type.String(),
    prefixLength: Type.Integer(),
    segment: Type.String(),
    pool: Type.String(),
    network: Type.String(),
    containerId: Type.Union([Type.String(), Type.Null()]),
    ifname: Type.String(),
    pod: Type.Union([
      Type.Object({
        namespace: Type.String(),
        name: Type.String(),
        uid: Type.Union([Type.String(), Type.Null()]),
      }),
      Type.Null(),
    ]),
    owner: Type.Union([Type.String(), Type.Null()], {
      description:
        'the controller at the top of the pod, such as "StatefulSet shop/web", as the Kubernetes API has it; null where it is not known',
    }),
    node: Type.String(),
    state: LeaseState,
    source: Type.String({
      description: 'what asked for the address, such as "annotation ipkeeper.io/ip"; or "dynamic"',
    }),
    retain: Type.String({
      description: 'retention rule: release, while-owner-exists, forever, or a duration',
    }),
    mac: Type.Union([Type.String(), Type.Null()]),
    since: Type.String({ format: 'date-time' }),
    until: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  },
  { $id: 'LeaseItem' },
)
export type LeaseItem = Static<typeof LeaseItem>

export const LeasesReply = Type.Object({ leases: Type.Array(LeaseItem), more: More }, { $id: 'LeasesReply' })
export type LeasesReply = Static<typeof LeasesReply>

export const AttachmentItem = Type.Object(
  {
    network: Type.String(),
    containerId: Type.String(),
    ifname: Type.String(),
    pod: LeaseItem.properties.pod,
    node: Type.String(),
    netns: Type.String({ description: 'path as the runtime gave it' }),
    addresses: Type.Array(Type.String(), {
      description: 'in CIDR notation; of a fallback as it has reported them, empty while it works',
    }),
    delegatedTo: Type.Union([Type.String(), Type.Null()], {
      description: 'the plugin of "ipam.fallback" that gave the addresses; null where they are leases',
    }),
    mode: Type.Union([Type.String(), Type.Null()], {
      description: 'how the main plugin wired the pod; null where a parent plugin did',
    }),
    hostLink: Type.Union([Type.String(), Type.Null()], {
      description:
        "the host's side of the pod's interface; null where there is none, or a parent plugin made it",
    }),
    since: Type.String({ format: 'date-time' }),
    bootId: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'of the kernel that its sandbox was added under; null where that is not known',
      }),
    ),
  },
  { $id: 'AttachmentItem' },
)
export type AttachmentItem = Static<typeof AttachmentItem>

export const AttachmentsReply = Type.Object(
  { attachments: Type.Array(AttachmentItem), more: More },
  { $id: 'AttachmentsReply' },
)
export type AttachmentsReply = Static<typeof AttachmentsReply>

export const Count = Type.Union([Type.Integer(), Type.String({ pattern: '^[0-9]+$' })], {
  description: 'a number; above 2^53 a decimal string',
})

const poolFigures = {
  ranges: Type.Array(Type.Array(Type.String({ description: 'first-last of one range' }))),
  capacity: Count,
  used: Count,
  held: Count,
  free: Count,
  nextFreeAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'when the next kept or resting address becomes free; null when none does by itself',
  }),
}

export const Drains = Type.Literal(true, {
  description:
    'all ranges of the family drain: nothing of it is free, and yet it is not full; absent otherwise',
})

export const PoolFamily = Type.Object(
  {
    ...{ family: Type.Union([Type.Literal('IPv4'), Type.Literal('IPv6')]), ...poolFigures },
    drains: Type.Optional(Drains),
    forecast: Type.Optional(Forecast),
  },
  { $id: 'PoolFamily' },
)
export type PoolFamily = Static<typeof PoolFamily>

export const PendingSpecItem = Type.Object(
  {
    generation: Type.Integer({ description: 'of the IPPool' }),
    refused: Type.Boolean({ description: 'false: the elected daemon has not judged it yet' }),
    says: Type.String({ description: 'that it is not in force, and why' }),
    next: Type.Array(Type.String(), { description: 'what to type, word by word' }),
  },
  { $id: 'PendingSpecItem' },
)
export type PendingSpecItem = Static<typeof PendingSpecItem>

export const PoolItem = Type.Object(
  {
    name: Type.String(),
    segment: Type.String(),
    ...poolFigures,
    families: Type.Array(PoolFamily, {
      description: 'the same of each family alone: a family that is full is not seen in a sum with the other',
    }),
    draining: Type.Optional(
      Type.Object(
        {
          whole: Type.Boolean({ description: 'whether all of its ranges drain' }),
          left: Count,
          reserved: Type.Optional(Count),
        },
        {
          description:
            'ranges that give no new address, and how many are left in them, of which so many are only reserved; absent where none drains',
        },
      ),
    ),
    pending: Type.Optional(
      Type.Unsafe<PendingSpecItem>({
        ...PendingSpecItem,
        description: 'a newer spec of its IPPool, which is not in force; all else is what is',
      }),
    ),
  },
  { $id: 'PoolItem' },
)
export type PoolItem = Static<typeof PoolItem>

export const PoolsReply = Type.Object({ pools: Type.Array(PoolItem), more: More }, { $id: 'PoolsReply' })
export type PoolsReply = Static<typeof PoolsReply>

const ownerForms =
  'NAMESPACE/POD; NAMESPACE/KIND/NAME for the pods of a workload, such as shop/statefulset/web; or external:NAME for an owner that is no pod'

export const ReservationItem = Type.Object(
  {
    segment: Type.String({ minLength: 1, maxLength: 63 }),
    address: Type.String(),
    owner: Type.String({ description: `who may have it: ${ownerForms}` }),
    note: Type.String(),
    since: Type.String({ format: 'date-time' }),
  },
  { $id: 'ReservationItem' },
)
export type ReservationItem = Static<typeof ReservationItem>

export const ReserveReply = Type.Object(
  {
    ...ReservationItem.properties,
    pool: Type.Union([Type.String(), Type.Null()], {
      description: 'the pool that can give the address; null when none known so far can',
    }),
  },
  { $id: 'ReserveReply' },
)
export type ReserveReply = Static<typeof ReserveReply>

export const ReservationsReply = Type.Object(
  { reservations: Type.Array(ReservationItem), more: More },
  { $id: 'ReservationsReply' },
)
export type ReservationsReply = Static<typeof ReservationsReply>

/** Characters of the note of a reservation. */
export const longestNote = 500

export const ReserveRequest = Type.Object(
  {
    address: Type.String({ minLength: 1, maxLength: 64 }),
    owner: Type.String({ minLength: 1, maxLength: 400, description: ownerForms }),
    segment: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
    note: Type.Optional(Type.String({ maxLength: longestNote })),
  },
  { $id: 'ReserveRequest', additionalProperties: false },
)
export type ReserveRequest = Static<typeof ReserveRequest>

export const HealthReply = Type.Object(
  { status: Type.Literal('ok'), version: Type.String(), stateDir: Type.String() },
  { $id: 'HealthReply' },
)
export type HealthReply = Static<typeof HealthReply>

const KubernetesStatus = Type.Object({
  server: Type.String(),
  source: Type.String({ description: 'where the access was learnt' }),
  connected: Type.Boolean({ description: 'all watches are open' }),
  watches: Type.Array(
    Type.Object({
      resource: Type.String(),
      connected: Type.Boolean(),
      synced: Type.Boolean({ description: 'everything was listed at least once' }),
      lastContact: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
      lastError: Type.Union([Type.Object({ at: Type.String(), message: Type.String() }), Type.Null()]),
    }),
  ),
  counts: Type.Object({ pods: Type.Integer(), namespaces: Type.Integer(), nodes: Type.Integer() }),
  events: Type.Object({ queued: Type.Integer(), written: Type.Integer(), dropped: Type.Integer() }),
  missingRights: Type.Union(
    [
      Type.Array(Type.Object({ verb: Type.String(), resource: Type.String(), why: Type.String() })),
      Type.Null(),
    ],
    { description: 'null until the API has answered' },
  ),
  missingRules: Type.String({ description: 'what to add to the ClusterRole, as YAML' }),
  nodeMissing: Type.Union([Type.Object({ meant: Type.Union([Type.String(), Type.Null()]) }), Type.Null()], {
    description: 'set when the API has no Node of our name; the nearest that it has',
  }),
  unreadAnnotations: Type.Optional(
    Type.Array(
      Type.Object({
        dialect: Type.String(),
        pods: Type.Integer({ description: 'of this node that have any' }),
        pod: Type.String({ description: 'one of them, NAMESPACE/NAME' }),
        key: Type.String({ description: 'one that it has' }),
      }),
      {
        description:
          'annotations of other products on pods, of dialects that are not switched on; absent from older daemons',
      },
    ),
  ),
})

/** Annotations of one dialect that is not switched on. */
export type UnreadAnnotations = NonNullable<Static<typeof KubernetesStatus>['unreadAnnotations']>[number]

export const StatusReply = Type.Object(
  {
    version: Type.String(),
    commit: Type.Optional(
      Type.String({
        description: 'that the daemon was built from, with "-dirty" when files had changed since',
      }),
    ),
    node: Type.String(),
    identity: Type.Optional(
      Type.Object(
        {
          id: Type.String({ description: 'of the state folder, on this machine' }),
          wanted: Type.String({
            description: 'the name that is configured; another one than `node` until the store can be asked',
          }),
          formerNames: Type.Array(
            Type.Object({ name: Type.String(), until: Type.String({ format: 'date-time' }) }),
            { description: 'the newest first' },
          ),
          knownBy: Type.Array(Type.Union([Type.Literal('machine-id'), Type.Literal('hardware')]), {
            description: 'what tells this machine from another one that has a copy of the folder',
          }),
          copyOf: Type.Optional(Type.String({ description: 'ID that the folder had on another machine' })),
          refused: Type.Optional(
            Type.Object(
              { message: Type.String(), hint: Type.String() },
              { description: 'another machine that lives has the name or the identity: no ADD is served' },
            ),
          ),
        },
        { description: 'what the node is known by, whatever it is called' },
      ),
    ),
    bootId: Type.String(),
    pid: Type.Integer(),
    startedAt: Type.String({ format: 'date-time' }),
    stateDir: Type.String(),
    socket: Type.String(),
    store: Type.Object({
      kind: Type.String(),
      location: Type.String(),
      leases: Type.Integer(),
      attachments: Type.Integer({ description: 'of this node' }),
      state: Type.Optional(
        Type.Union([Type.Literal('ready'), Type.Literal('away'), Type.Literal('incomplete')], {
          description:
            'of a store that nodes share; absent where the daemon has it to itself. incomplete: it has lost records, and nothing new is given before all nodes have written their records again',
        }),
      ),
      reason: Type.Optional(
        Type.String({
          description: 'why it is away or taken for incomplete, or why no changes of other nodes arrive',
        }),
      ),
      since: Type.Optional(Type.String({ format: 'date-time', description: 'of the reason' })),
      owed: Type.Optional(
        Type.Integer({ description: 'pending writes: records that its engine has not confirmed' }),
      ),
      waitsFor: Type.Optional(
        Type.Array(Type.String(), {
          description: 'other nodes that have not written their records again, while it is incomplete',
        }),
      ),
      lacks: Type.Optional(Type.String({ description: 'what its engine should keep and does not, and why' })),
      file: Type.Optional(
        Type.Object(
          {
            path: Type.String(),
            fault: Type.Union([ProblemItem, Type.Null()], {
              description: 'why nothing can be acknowledged: code, message, details, hint',
            }),
            findings: Type.Array(Type.String(), {
              description: 'what is wrong with it besides, and concerns no lease',
            }),
          },
          { description: 'of the ledger, or of the journal of a store that nodes share' },
        ),
      ),
    }),
    disk: Type.Optional(
      Type.Object(
        {
          folder: Type.String({ description: 'whose file system it is' }),
          reserved: Type.Integer({
            description: 'bytes that are kept there for ending pods when it is full',
          }),
          wanted: Type.Integer({ description: 'bytes that are to be kept' }),
          refuses: Type.Union(
            [
              Type.Object({ reason: Type.String(), since: Type.String({ format: 'date-time' }) }),
              Type.Null(),
            ],
            { description: 'why no pod is added, and since when; null while all is well' },
          ),
        },
        { description: 'of the store or the journal; absent where nothing is written' },
      ),
    ),
    pools: Type.Integer(),
    pendingPools: Type.Optional(
      Type.Array(PendingSpecItem, { description: 'IPPools whose newest spec is not in force' }),
    ),
    clock: Type.Optional(
      Type.Object({
        jumps: Type.Integer({ description: 'how often the wall clock was set while the daemon ran' }),
        last: Type.Union([
          Type.Object({
            at: Type.String({ format: 'date-time', description: 'when it was noticed, by the clock as set' }),
            seconds: Type.Number({ description: 'below 0 where it was set back' }),
            says: Type.String(),
          }),
          Type.Null(),
        ]),
      }),
    ),
    deferredDels: Type.Object({
      waiting: Type.Integer({ description: 'DELs in the queue of the state folder' }),
      quarantined: Type.Integer({ description: 'files put aside because they could not be understood' }),
    }),
    parts: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String(),
          problem: Type.Union([ProblemItem, Type.Null()], {
            description: 'why it does not work, and is tried again: code, message, hint; null: it works',
          }),
          since: Type.String({ format: 'date-time', description: 'since when it is so' }),
        }),
        {
          description:
            'what is configured and no pod needs: listeners, certificate, runtime, export of the history',
        },
      ),
    ),
    historyExport: Type.Optional(
      Type.Object(
        {
          receiver: Type.String(),
          unsent: Type.Integer({ description: 'entries of the history that the receiver does not have' }),
          oldestUnsent: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
            description: 'when the oldest one of them was written',
          }),
          sent: Type.Integer({ description: 'entries that were sent, since the start of the daemon' }),
          pruned: Type.Integer({
            description: 'entries that were pruned before they could be sent, since the start of the daemon',
          }),
        },
        { description: 'absent where the history is sent to no receiver' },
      ),
    ),
    config: Type.Object({
      path: Type.String(),
      loadedAt: Type.String({ format: 'date-time', description: 'when what is in force was read' }),
      problem: Type.Union([ProblemItem, Type.Null()], {
        description: 'why the file is not what is in force: code, message, details, hint',
      }),
      stricter: Type.Optional(
        Type.Array(Type.String(), {
          description: 'pools for which the rules of that file apply, besides those in force',
        }),
      ),
      copy: Type.Optional(
        Type.Union([ProblemItem, Type.Null()], {
          description: 'why the copy of what is in force, for the next start, is not as it is to be',
        }),
      ),
    }),
    conflist: Type.Optional(
      Type.Object(
        { directory: Type.String(), binDirs: Type.Array(Type.String()) },
        { description: 'where the runtime has network configurations and plugins from, as configured' },
      ),
    ),
    kubernetes: Type.Union([KubernetesStatus, Type.Null()], { description: 'null: no API is configured' }),
    operationsUnderWay: Type.Integer(),
  },
  { $id: 'StatusReply' },
)
export type StatusReply = Static<typeof StatusReply>

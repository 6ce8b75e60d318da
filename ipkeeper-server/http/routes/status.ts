import type { FastifyInstance } from 'fastify'
import type { Problem, ProblemDocument } from '../../../shared/problem/problem.ts'
import { commit } from '../../../shared/build-info.ts'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { HealthReply, StatusReply, type UnreadAnnotations } from '../../../shared/api/listing.schema.ts'
import { describeJump } from '../../host/clock.ts'
import type { PartState } from '../../host/optional-part.ts'
import { pendingSpec } from '../../ipam/pools/pending-spec.ts'
import { isoTime } from '../../ipam/records/times.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'
import type { DiskStatus, FileAspect, StoreStatus } from '../../store/lease-store.ts'
import { documentOf, type ReplyFacts } from '../problem-reply.ts'

/** What the daemon knows of itself from its start. */
export interface DaemonFacts extends ReplyFacts {
  readonly version: string
  readonly startedAt: number
  /** "DEV:INO" of it; absent where nobody is to compare it. */
  readonly stateFolder?: string
  readonly socket: string
  readonly store: { readonly kind: string; readonly location: string }
  /** Absent where nobody has said it. */
  readonly identity?: IdentityFacts
  /** Why another machine has its name; absent where nodes share nothing. */
  readonly nameProblem?: () => Problem | undefined
  /** Where the runtime has network configurations and plugins from; absent where nobody has said it. */
  readonly conflist?: { readonly directory: string; readonly binDirs: readonly string[] }
}

/** What the node is known by, whatever it is called. */
export interface IdentityFacts {
  readonly id: string
  /** As configured. */
  readonly wanted: string
  /** Until when: milliseconds since the epoch. */
  readonly formerNames: readonly { readonly name: string; readonly until: number }[]
  readonly marks: { readonly machineId?: string; readonly hardware?: string }
  readonly copyOf?: string | undefined
}

/** DELs that wait in the state folder, and what was put aside of them. */
export type CountDeferredDels = () => Promise<{ readonly waiting: number; readonly quarantined: number }>

/** How often the wall clock was set since the start; the last time: `by` in milliseconds, `at` since the epoch. */
export type CountJumps = () => {
  readonly count: number
  readonly last: { readonly by: number; readonly at: number } | undefined
}

/** Which file the configuration was read from, and what is wrong with it now. */
export interface ConfigState {
  readonly path: string
  /** Milliseconds since the epoch. */
  readonly loadedAt: number
  readonly problem: ProblemDocument | null
  /** Pools for which the rules of a refused file apply besides. */
  readonly stricter: readonly string[]
  /** Why the copy of what is in force is not as it is to be. */
  readonly copy: ProblemDocument | null
}

/** What is known of the Kubernetes API; times in milliseconds since the epoch. */
export interface ClusterState {
  readonly server: string
  readonly source: string
  readonly connected: boolean
  readonly watches: readonly {
    readonly resource: string
    readonly connected: boolean
    readonly synced: boolean
    readonly lastContact: number | undefined
    readonly lastError: { readonly at: number; readonly message: string } | undefined
  }[]
  readonly counts: { readonly pods: number; readonly namespaces: number; readonly nodes: number }
  readonly events: { readonly queued: number; readonly written: number; readonly dropped: number }
  /** Annotations of pods of this node that nobody reads, by dialect. */
  readonly unread: readonly UnreadAnnotations[]
  readonly access:
    | {
        readonly missing: readonly {
          readonly verb: string
          readonly resource: string
          readonly why: string
        }[]
        readonly add: string
      }
    | undefined
  readonly misnamed: { readonly meant: string | undefined } | undefined
}

/** Entries of the history that a receiver has and has not; times in milliseconds since the epoch. undefined: it is sent nowhere. */
export type ReadExport = () => Promise<
  | {
      readonly receiver: string
      readonly unsent: number
      readonly oldestUnsent: number | undefined
      readonly sent: number
      readonly pruned: number
    }
  | undefined
>

async function exportStatus(read: ReadExport | undefined): Promise<Pick<StatusReply, 'historyExport'>> {
  const figures = await read?.()
  if (!figures) return {}
  const { oldestUnsent, ...counts } = figures
  return {
    historyExport: { ...counts, oldestUnsent: oldestUnsent === undefined ? null : isoTime(oldestUnsent) },
  }
}

function sharedStoreStatus(status: StoreStatus | undefined): Partial<StatusReply['store']> {
  if (!status) return {}
  const { state, reason, since, owed, waitsFor, lacks } = status
  return {
    ...{ state, owed },
    ...(waitsFor && { waitsFor: [...waitsFor] }),
    ...(lacks !== undefined && { lacks }),
    ...(reason !== undefined && { reason }),
    ...(since !== undefined && { since: isoTime(since) }),
  }
}

function fileStatus(facts: ReplyFacts, file: FileAspect | undefined): Partial<StatusReply['store']> {
  if (!file) return {}
  const fault = file.fault()
  const document = fault ? { ...documentOf(fault, facts) } : null
  return { file: { path: file.path, fault: document, findings: [...file.findings()] } }
}

function identityStatus(
  { remedy = text => text }: ReplyFacts,
  identity: IdentityFacts,
  refused: Problem | undefined,
): NonNullable<StatusReply['identity']> {
  const { id, wanted, formerNames, marks, copyOf } = identity
  return {
    id,
    wanted,
    formerNames: formerNames.map(({ name, until }) => ({ name, until: isoTime(until) })),
    knownBy: [
      ...(marks.machineId === undefined ? [] : (['machine-id'] as const)),
      ...(marks.hardware === undefined ? [] : (['hardware'] as const)),
    ],
    ...(copyOf !== undefined && { copyOf }),
    ...(refused && { refused: { message: refused.message, hint: remedy(refused.hint) } }),
  }
}

function kubernetesStatus(state: ClusterState): NonNullable<StatusReply['kubernetes']> {
  const { server, source, connected, counts, events, access, misnamed, unread } = state
  return {
    server,
    source,
    connected,
    watches: state.watches.map(({ resource, connected: open, synced, lastContact, lastError }) => ({
      resource,
      connected: open,
      synced,
      lastContact: lastContact === undefined ? null : isoTime(lastContact),
      lastError: lastError ? { at: isoTime(lastError.at), message: lastError.message } : null,
    })),
    counts,
    events,
    missingRights: access?.missing.map(({ verb, resource, why }) => ({ verb, resource, why })) ?? null,
    missingRules: access?.add ?? '',
    nodeMissing: misnamed ? { meant: misnamed.meant ?? null } : null,
    unreadAnnotations: [...unread],
  }
}

function diskStatus(status: DiskStatus | undefined): Pick<StatusReply, 'disk'> {
  if (!status) return {}
  const { refuses, ...figures } = status
  return { disk: { ...figures, refuses: refuses ? { ...refuses, since: isoTime(refuses.since) } : null } }
}

function partStatus(
  facts: ReplyFacts,
  { name, problem, since }: PartState,
): NonNullable<StatusReply['parts']>[number] {
  return { name, problem: problem ? { ...documentOf(problem, facts) } : null, since: isoTime(since) }
}

/** GET health and status. Polled, hence logged only when they fail. */
export function statusRoutes(
  app: FastifyInstance,
  options: {
    service: LeaseService
    facts: DaemonFacts
    deferredDels: CountDeferredDels
    jumps: CountJumps
    config: () => ConfigState
    clusterStatus: () => ClusterState | undefined
    disk?: (() => DiskStatus | undefined) | undefined
    parts?: (() => readonly PartState[]) | undefined
    historyExport?: ReadExport | undefined
  },
): void {
  const { service, facts, deferredDels, jumps, config, clusterStatus, disk, parts, historyExport } = options

  app.get(
    '/v1/health',
    { logLevel: 'error', schema: { response: { 200: HealthReply, 503: ErrorReply } } },
    async () => {
      const fault = service.ledger.file?.fault()
      if (fault) throw fault
      return await Promise.resolve({ status: 'ok', version: facts.version, stateDir: facts.stateDir })
    },
  )

  app.get('/v1/status', { logLevel: 'warn', schema: { response: { 200: StatusReply } } }, async () => {
    const counts = service.ledger.counts()
    const { path, loadedAt, problem, stricter, copy } = config()
    const kubernetes = clusterStatus()
    const { count, last } = jumps()
    return {
      version: facts.version,
      node: service.node,
      ...(facts.identity && { identity: identityStatus(facts, facts.identity, facts.nameProblem?.()) }),
      bootId: service.bootId,
      pid: process.pid,
      commit,
      startedAt: new Date(facts.startedAt).toISOString(),
      stateDir: facts.stateDir,
      socket: facts.socket,
      store: {
        ...facts.store,
        leases: counts.lease,
        attachments: counts.attachment,
        ...sharedStoreStatus(service.ledger.storeStatus()),
        ...fileStatus(facts, service.ledger.file),
      },
      ...diskStatus(disk?.()),
      parts: (parts?.() ?? []).map(part => partStatus(facts, part)),
      ...(await exportStatus(historyExport)),
      pools: counts.pool,
      pendingPools: [...service.ledger.pools()].flatMap(record => pendingSpec(record) ?? []),
      clock: {
        jumps: count,
        last: last ? { at: isoTime(last.at), seconds: last.by / 1000, says: describeJump(last) } : null,
      },
      deferredDels: await deferredDels(),
      config: { path, loadedAt: isoTime(loadedAt), problem, stricter: [...stricter], copy },
      ...(facts.conflist && { conflist: facts.conflist }),
      kubernetes: kubernetes ? kubernetesStatus(kubernetes) : null,
      operationsUnderWay: service.serial.busy,
    }
  })
}

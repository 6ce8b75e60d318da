import type { FastifyInstance } from 'fastify'
import type { ProblemDocument } from '../../../shared/problem/problem.ts'
import { commit } from '../../../shared/build-info.ts'
import { HealthReply, StatusReply } from '../../../shared/api/listing.schema.ts'
import type { LeaseService } from '../../leases/service.ts'
import type { StoreStatus } from '../../store/lease-store.ts'

/** What the daemon knows of itself from its start. */
export interface DaemonFacts {
  readonly version: string
  readonly startedAt: number
  readonly stateDir: string
  /** "DEV:INO" of it; absent where nobody is to compare it. */
  readonly stateFolder?: string
  readonly socket: string
  readonly store: { readonly kind: string; readonly location: string }
  /** Where the runtime has network configurations and plugins from; absent where nobody has said it. */
  readonly conflist?: { readonly directory: string; readonly binDirs: readonly string[] }
}

/** DELs that wait in the state folder, and what was put aside of them. */
export type CountDeferredDels = () => Promise<{ readonly waiting: number; readonly quarantined: number }>

/** Which file the configuration was read from, and what is wrong with it now. */
export interface ConfigState {
  readonly path: string
  /** Milliseconds since the epoch. */
  readonly loadedAt: number
  readonly problem: ProblemDocument | null
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

function sharedStoreStatus(status: StoreStatus | undefined): Partial<StatusReply['store']> {
  if (!status) return {}
  const { state, reason, since, owed } = status
  return {
    ...{ state, owed },
    ...(reason !== undefined && { reason }),
    ...(since !== undefined && { since: iso(since) }),
  }
}

const iso = (time: number): string => new Date(time).toISOString()

function kubernetesStatus(state: ClusterState): NonNullable<StatusReply['kubernetes']> {
  const { server, source, connected, counts, events, access, misnamed } = state
  return {
    server,
    source,
    connected,
    watches: state.watches.map(({ resource, connected: open, synced, lastContact, lastError }) => ({
      resource,
      connected: open,
      synced,
      lastContact: lastContact === undefined ? null : iso(lastContact),
      lastError: lastError ? { at: iso(lastError.at), message: lastError.message } : null,
    })),
    counts,
    events,
    missingRights: access?.missing.map(({ verb, resource, why }) => ({ verb, resource, why })) ?? null,
    missingRules: access?.add ?? '',
    nodeMissing: misnamed ? { meant: misnamed.meant ?? null } : null,
  }
}

/** GET health and status. Polled, hence logged only when they fail. */
export function statusRoutes(
  app: FastifyInstance,
  options: {
    service: LeaseService
    facts: DaemonFacts
    deferredDels: CountDeferredDels
    config: () => ConfigState
    clusterStatus: () => ClusterState | undefined
  },
): void {
  const { service, facts, deferredDels, config, clusterStatus } = options

  app.get('/v1/health', { logLevel: 'warn', schema: { response: { 200: HealthReply } } }, async () =>
    Promise.resolve({ status: 'ok', version: facts.version, stateDir: facts.stateDir }),
  )

  app.get('/v1/status', { logLevel: 'warn', schema: { response: { 200: StatusReply } } }, async () => {
    const counts = service.ledger.counts()
    const { path, loadedAt, problem } = config()
    const kubernetes = clusterStatus()
    return {
      version: facts.version,
      node: service.node,
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
      },
      pools: counts.pool,
      deferredDels: await deferredDels(),
      config: { path, loadedAt: iso(loadedAt), problem },
      ...(facts.conflist && { conflist: facts.conflist }),
      kubernetes: kubernetes ? kubernetesStatus(kubernetes) : null,
      operationsUnderWay: service.serial.busy,
    }
  })
}

import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DaemonConfig } from '../config/load-config.ts'
import { tidiesUp } from '../ipam/plan/plan-release.ts'
import type { PoolVerdict } from '../ipam/pools/judge-pool-objects.ts'
import type { ApiAccess } from '../kubernetes/api-client.ts'
import type { ClusterView } from '../kubernetes/cluster-view.ts'
import { alone, type Election } from '../kubernetes/election.ts'
import type { LeaseElection } from '../kubernetes/lease-election.ts'
import { ExpiryLoop } from '../leases/tasks/expire-leases.ts'
import { measureUsage } from '../leases/queries/measure-usage.ts'
import { OwnerWatch } from '../leases/tasks/owner-watch.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import { PublishPools, type PublishPoolsOptions } from '../leases/tasks/pool-verdict-publisher.ts'
import { TellPools } from '../leases/tasks/pool-status-publisher.ts'
import type { Logger } from '../host/logger.ts'
import { limitsOf, type ReconcileSettings } from '../reconcile/plan-settings.ts'
import { LostNodes } from '../reconcile/lost-nodes.ts'

export interface LeaderTasksOptions {
  /** Of the start. */
  readonly config: DaemonConfig
  /** As configured now. */
  readonly reconcileSettings: () => ReconcileSettings
  readonly service: LeaseService
  /** undefined where no API is configured. */
  readonly access: ApiAccess | undefined
  readonly cluster: ClusterView | undefined
  /** Of the store: with "kubernetes" the figures of pools are shown beside them. */
  readonly storeKind: string
  /** What is to be said of each IPPool. */
  readonly judgePools: () => ReadonlyMap<string, PoolVerdict>
  readonly tellPool: PublishPoolsOptions['onVerdict']
  readonly logger: Logger
}

/** What this daemon does for all, if it is elected or has the store to itself. */
export interface LeaderTasks {
  /** undefined where nobody is elected: without a Kubernetes API, and where a node has its store to itself. */
  readonly isElected: (() => boolean) | undefined
  /** Of the node whose daemon is elected, as far as is known here. */
  readonly leader: (() => string | undefined) | undefined
  /** undefined where a node has its store to itself. */
  readonly lostNodes: LostNodes | undefined
  /** To be called when IPPools, or what of them is in force on this node, may be others. */
  readonly poolsJoined: () => void
  /** To be called when the daemon serves. */
  readonly start: () => void
  /** Resolves when nothing is done any more and another daemon may begin. */
  readonly stop: () => Promise<void>
}

/**
 * Puts together what one daemon does for all that share a store, and elects it. Kept addresses expire on every node; who
 * deletes their records is divided among them.
 */
export async function openLeaderTasks(options: LeaderTasksOptions): Promise<LeaderTasks> {
  const { reconcileSettings, service, access, cluster, storeKind } = options
  const { ledger } = service
  const leaseElection =
    ledger.isShared && access
      ? await openElection(options, access, () => {
          wakeLoops()
          pools?.wake()
          pools?.judge()
        })
      : undefined
  const election: Election = leaseElection ?? (ledger.isShared ? { isElected: () => false } : alone)
  const expiry = expireLeases(options, leaseElection)
  const owners = cluster && watchOwners(options, cluster, election)
  const pools = access && storeKind === 'kubernetes' ? await tellPools(options, access, election) : undefined
  const wakeLoops = (): void => {
    expiry.wake()
    owners?.wake()
  }
  ledger.subscribe({
    kept: wakeLoops,
    changed: ({ kind }) => {
      if (kind === 'lease' || kind === 'reservation' || kind === 'pool') pools?.wake()
    },
  })
  wakeLoops()
  return {
    isElected: leaseElection && (() => leaseElection.isElected()),
    leader: leaseElection && (() => nodeOf(leaseElection.holder())),
    lostNodes: ledger.isShared
      ? new LostNodes({
          ...{ service, election, cluster },
          askAfter: () => limitsOf(reconcileSettings(), 'lease-of-lost-node').minAgeUnproved,
          monotonic: () => performance.now(),
        })
      : undefined,
    poolsJoined: () => pools?.judge(),
    start: () => {
      leaseElection?.start()
    },
    stop: async () => {
      await Promise.all([expiry.stop(), owners?.stop(), pools?.stop()])
      await leaseElection?.stop()
    },
  }
}

/** "worker-1 3f2a...": the node, and which run of its daemon. */
const nodeOf = (holder: string | undefined): string | undefined => holder?.replace(/ [^ ]*$/, '')

async function openElection(
  { config, service, logger }: LeaderTasksOptions,
  access: ApiAccess,
  onChange: () => void,
): Promise<LeaseElection> {
  const { LeaseElection: Elections } = await import('../kubernetes/lease-election.ts')
  return new Elections({
    access,
    namespace: config.election.namespace,
    // A daemon that was restarted is not the one that was elected: it knows nothing of what that had begun.
    identity: `${service.node} ${randomBytes(4).toString('hex')}`,
    onChange: elected => {
      logger.info(
        { elected },
        elected
          ? 'elected leader: this daemon runs the leader tasks'
          : 'no longer the leader: another daemon runs the leader tasks',
      )
      onChange()
    },
    onTrouble: error => {
      logger.warn(
        { reason: error.message },
        'the Lease of the leader election cannot be read or written; retrying',
      )
    },
  })
}

function expireLeases(
  { service, cluster, logger }: LeaderTasksOptions,
  election: Election | undefined,
): ExpiryLoop {
  const { ledger, node } = service
  return new ExpiryLoop(
    service,
    error => {
      logger.warn({ err: error }, 'records of addresses that came free could not be tidied up')
    },
    lease =>
      !ledger.isShared ||
      tidiesUp(
        { node, elected: election?.isElected(), isGone: name => cluster?.node(name) === 'gone' },
        lease,
        service.now(),
      ),
  )
}

function watchOwners(
  { service, logger }: LeaderTasksOptions,
  cluster: ClusterView,
  election: Election,
): OwnerWatch {
  return new OwnerWatch({
    ...{ service, cluster, election },
    onReleased: ({ address, holder, workload }) => {
      logger.info({ address, holder, workload }, 'released: its owner is gone')
    },
    onError: error => {
      logger.warn({ err: error }, 'owners of kept addresses could not be asked for; it is tried again')
    },
  })
}

async function tellPools(options: LeaderTasksOptions, access: ApiAccess, election: Election) {
  const { service, judgePools, tellPool, logger } = options
  const { ledger } = service
  const { ApiClient } = await import('../kubernetes/api-client.ts')
  const { PoolStatusWriter } = await import('../store/kubernetes/pool-status-writer.ts')
  const client = new ApiClient(access, { requests: 1 })
  let isOldTold = false
  const sink = new PoolStatusWriter({
    ...{ client, now: service.now },
    onOldDefinition: hint => {
      if (!isOldTold)
        logger.warn(
          { hint },
          'IPPools of this cluster cannot say what is in force: their definition is older',
        )
      isOldTold = true
    },
  })
  const figures = new TellPools({
    ...{ election, sink },
    isHeard: () => ledger.isHeard(),
    usage: () => measureUsage(service, () => nextTurn()),
    monotonic: () => performance.now(),
    onError: error => {
      logger.warn({ err: error }, 'the figures of pools could not be written; it is tried again')
    },
  })
  const verdicts = new PublishPools({
    ...{ election, sink, judge: judgePools, onVerdict: tellPool },
    // What an engine that has lost records does not have may be in use all the same.
    isHeard: () => ledger.isHeard() && ledger.storeStatus()?.state !== 'incomplete',
    onError: error => {
      logger.warn({ err: error }, 'what of IPPools is in force could not be published; it is tried again')
    },
  })
  return {
    wake: () => {
      figures.wake()
    },
    judge: () => {
      verdicts.wake()
    },
    stop: async () => {
      await Promise.all([figures.stop(), verdicts.stop()])
      await client.close()
    },
  }
}

import type { DaemonConfig } from '../config/load-config.ts'
import type { AttachmentRecord, PoolRange, PoolRecord } from '../ipam/records/records.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import type { NameClaims } from '../leases/tasks/name-claims.ts'
import { version } from '../../shared/build-info.ts'
import { HeardNodes } from '../leases/tasks/heard-nodes.ts'
import { NodePresence } from '../leases/tasks/node-presence.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import type { Logger } from '../host/logger.ts'
import { forgetNeighbours } from '../network/pod/pod-links.ts'
import { findNodeAddresses } from '../network/ip-show.ts'
import { NodeRoutes } from '../network/node/node-routes.ts'
import type { BoundAddress, NodeRoutesView } from '../network/plan/plan-node-routes.ts'
import { runTool } from '../network/run-tool.ts'

export interface NodeMeshOptions {
  /** As configured now. */
  readonly config: () => Pick<DaemonConfig, 'nodeRoutes' | 'takeover'>
  readonly service: Pick<LeaseService, 'ledger' | 'node' | 'bootId' | 'now'>
  /** Whether this store is meant for takeover by time: each node would write to it every few seconds. */
  readonly tellsTime: boolean
  /** Milliseconds of CLOCK_BOOTTIME. */
  readonly bootClock: () => number
  readonly claims: NameClaims | undefined
  readonly logger: Logger
  /** undefined where no API is configured. */
  readonly cluster: Cluster | undefined
}

/** What a node does because others share its ledger. */
export interface NodeMesh {
  readonly contactAgeOf: NonNullable<LeaseService['contactAgeOf']>
  readonly lastHeardOf: NonNullable<LeaseService['lastHeardOf']>
  readonly refusal: NonNullable<LeaseService['refusal']>
  /** A pod of this node was wired. */
  readonly wired: () => void
  /** The configuration was read anew. */
  readonly wake: () => void
  /** Resolves when the first try to tell of this node has ended. */
  readonly start: () => Promise<void>
  /** Resolves when nothing is done any more. Routes stay. */
  readonly stop: () => Promise<void>
}

/**
 * Puts together what tells other nodes of this one, and routes to their pods; undefined where one daemon has the store to
 * itself.
 */
export function openNodeMesh(options: NodeMeshOptions): NodeMesh | undefined {
  const { config, service, tellsTime, bootClock, claims, logger, cluster } = options
  const { ledger } = service
  if (!ledger.isShared) return undefined
  const presence = makePresence(options)
  const heard = new HeardNodes({ ledger, here: service.node, bootClock, now: service.now })
  const routes = makeRoutes(options)
  if (cluster) {
    onMovedNodes(cluster, () => {
      routes.wake()
    })
  }
  ledger.subscribe({
    routing: () => {
      routes.wake()
    },
    changed: ({ kind, record }) => {
      if (kind === 'node') presence.heard(record)
    },
  })
  return {
    contactAgeOf: name => presence.contactAgeOf(name),
    lastHeardOf: name => heard.ageOf(name),
    refusal: () => claims?.refusal() ?? presence.refusal(),
    wired: () => {
      routes.wake()
    },
    wake: () => {
      routes.wake()
      void presence.wake()
    },
    start: async () => {
      if (!tellsTime && config().takeover.byTime !== undefined)
        logger.warn('"takeover.byTime" has no effect with this store: nodes do not renew their records in it')
      await presence.start()
      routes.wake()
    },
    stop: async () => {
      await Promise.all([presence.stop(), routes.stop()])
    },
  }
}

/** Tells other nodes of this one. */
function makePresence(options: NodeMeshOptions): NodePresence {
  const { config, service, tellsTime, bootClock, claims, logger, cluster } = options
  return new NodePresence({
    service,
    ...(claims && { claims }),
    terms: () => (tellsTime ? config().takeover : { ...config().takeover, byTime: undefined }),
    addresses: async () => cluster?.nodeAddresses().get(service.node) ?? (await findNodeAddresses(runTool)),
    ...{ bootClock, version },
    onError: error => {
      logger.info(
        { err: error },
        'this node could not be announced to the other nodes, or the other nodes could not be listed; retrying',
      )
    },
  })
}

/** Keeps routes to pods of other nodes. */
function makeRoutes({ config, service, logger, cluster }: NodeMeshOptions): NodeRoutes {
  const told = new Map<string, readonly string[]>()
  return new NodeRoutes({
    run: runTool,
    view: () => (config().nodeRoutes === 'off' ? 'off' : viewOfRoutes(service, cluster, told)),
    forgetNeighbours: (bridge, addresses) => forgetNeighbours(runTool, ownPods(service), bridge, addresses),
    onUnreached: unreached => {
      if (unreached.length === 0) logger.info('all pods of other nodes are reached again')
      else logger.warn({ unreached }, 'pods of some nodes are not reached by routes from here')
    },
    onProblem: error => {
      logger.warn({ err: error }, 'a route to pods of other nodes could not be set; it is tried again')
    },
  })
}

/**
 * What routes are planned by; "unknown" while more of it is about to be told.
 *
 * @param told addresses of nodes as their records last had them; kept up to date
 */
function viewOfRoutes(
  service: NodeMeshOptions['service'],
  cluster: Cluster | undefined,
  told: Map<string, readonly string[]>,
): Omit<NodeRoutesView, 'links'> | 'unknown' {
  const { ledger, node } = service
  // What an engine that has lost records does not have may live all the same.
  if (!ledger.isHeard() || ledger.storeStatus()?.state === 'incomplete') return 'unknown'
  // In a record that is written again after such a loss they are missing until its node tells them: they are the same.
  for (const { name, addresses } of ledger.nodes()) if (addresses.length > 0) told.set(name, addresses)
  // What the API says comes at once; a node looks at itself now and then.
  const nodes = new Map([...told, ...(cluster?.nodeAddresses() ?? [])])
  const bound = [...boundAddresses(ledger)]
  const lacksAddress = bound.some(({ node: its, isRouted }) => isRouted && its !== node && !nodes.has(its))
  // The API may be about to tell it.
  if (lacksAddress && cluster?.hasListedNodes() === false) return 'unknown'
  const bridges = [...ownPods(service)].flatMap(({ wiring }) =>
    wiring?.mode === 'bridge' && wiring.master !== null ? [wiring.master] : [],
  )
  const ranges = [...ledger.pools()].flatMap(rangesOf)
  return { node, bound, nodes, podBridges: new Set(bridges), ranges }
}

function* ownPods({ ledger, node, bootId }: NodeMeshOptions['service']): Generator<AttachmentRecord> {
  for (const attachment of ledger.wiredAttachments())
    if (attachment.node === node && attachment.bootId === bootId) yield attachment
}

function* boundAddresses(ledger: LeaseService['ledger']): Generator<BoundAddress> {
  // Of a ledger without routed leases nothing has to be looked through.
  if (ledger.routedLeases()[Symbol.iterator]().next().done === true) return
  for (const { state, segment, address, node, carried } of ledger.leases())
    if (state === 'bound') yield { segment, address, node, isRouted: carried === 'routed' }
}

/** Nodes change all the time, and their addresses hardly ever. */
function onMovedNodes(cluster: Cluster, tell: () => void): void {
  let seen = ''
  cluster.onNodes = () => {
    const now = JSON.stringify([...cluster.nodeAddresses()])
    if (now !== seen) tell()
    seen = now
  }
}

function rangesOf({ segment, ranges }: PoolRecord): (PoolRange & { readonly segment: string })[] {
  return ranges.flat().map(range => ({ ...range, segment }))
}

import { setFlagsFromString } from 'node:v8'
import { version } from '../../shared/build-info.ts'
import { checkSocketPath } from '../http/listen-unix.ts'
import type { ApiAccess } from '../kubernetes/api-client.ts'
import { chooseAccess } from '../kubernetes/choose-access.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import { verbObserver } from '../metrics/observed-store.ts'
import { parseStoreSpec, type StoreSpec } from '../store/store-spec.ts'
import { openListeners, assembleHttp, listen } from './assemble-http.ts'
import {
  takeStateFolder,
  openLedger,
  nameThisNode,
  verifyFile,
  type OpenedLedger,
  type StateFolder,
} from './assemble-ledger.ts'
import { assembleNetwork } from './assemble-network.ts'
import { assembleRepairs, beginRepairs, type AssembledRepairs } from './assemble-repairs.ts'
import { assembleService } from './assemble-service.ts'
import { assembleTasks, type AssembledTasks } from './assemble-tasks.ts'
import { openFrame, type DaemonFrame, type ServeOptions } from './daemon-frame.ts'
import { followConfig, refusedConfig, type FollowedConfig } from './follow-config.ts'
import { openNodeMesh } from './node-mesh.ts'
import { wantsNamespaces, settingsInForce } from './settings-in-force.ts'
import { watchNode, type WatchedNode } from './watch-node.ts'

/**
 * Runs the daemon until SIGTERM or SIGINT; resolves when everything is answered and closed. Order matters: the locks
 * before the socket, all leases before the first request.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const frame = openFrame(options)
  const { clock, config, watched, stateDir, socket, place, logger, registry, stops, stopped } = frame
  const storeSpec = options.store === undefined ? undefined : parseStoreSpec(options.store)
  // Before a state folder is made for a daemon that cannot be reached.
  await checkSocketPath(socket)
  const listeners = await openListeners(frame)
  const { metricsListener, page } = listeners
  const folder = await takeStateFolder(frame, storeSpec)
  const { kept, bootId } = folder
  const observer = verbObserver(registry)
  const access = chooseAccess(config.kubernetes, { env: process.env, monotonic: () => performance.now() })
  place.here.clustered = access !== undefined
  const opened = await openLedger(frame, folder, { storeSpec, access })
  const { ledger, store } = opened
  // From here on little is kept of what is made: let V8 tidy up early instead of growing
  // (docs/adr/0007-memory-of-the-daemon.md). Before, it would slow the loading down.
  setFlagsFromString('--heap-growing-percent=20')
  const { claims, node: here } = await nameThisNode(frame, folder, { opened, metricsListener })
  if (here === undefined) {
    await stops.all.disposeAsync()
    logger.info('stopped')
    return
  }
  const settings = settingsInForce(config, access !== undefined)
  const cluster = access && (await connectCluster(frame, { access, here, storeSpec }))
  stops.cluster.defer(() => cluster?.stop())
  const network = assembleNetwork(frame, { ledger, here, bootId, onWired: () => mesh?.wired() })
  const mesh = openNodeMesh({
    config: () => watched.current,
    service: { ledger, node: here, bootId, now: clock.now },
    tellsTime: store.kind !== 'kubernetes',
    bootClock: clock.boot,
    ...{ claims, logger, cluster },
  })
  stops.mesh.defer(() => mesh?.stop())
  const service = assembleService(frame, {
    ...{ folder, opened, claims, here, settings, network, cluster, mesh },
    wasAnswered: attachment => repairs.answers.wasAnswered(attachment),
    useSamples: pool => useSamples.of(pool),
  })
  const tasks = await assembleTasks(frame, { service, opened, settings, access, cluster })
  const { leaderTasks, useSamples, putInForce } = tasks
  const repairs = await assembleRepairs(frame, { service, observer, kept })
  const node = watchNode({
    ...{ config, service, stateDir, logger, cluster, binDirs: frame.binDirs, parts: frame.parts },
    lostNodes: leaderTasks.lostNodes,
    falseAnswers: network.falseAnswers,
    onFindings: page.found,
    remedy: place.remedy,
    refusedConfig: () => refusedConfig(frame),
    reconcileSettings: () => watched.current.reconcile,
    nodeRoutes: () => watched.current.nodeRoutes,
    onPass: kept.look,
  })
  stops.node.defer(() => node.stop())
  const http = await assembleHttp(frame, {
    ...{ service, settings, folder, opened, claims, network, repairs, leaderTasks, node, cluster, observer },
    ...{ access, historyExport: tasks.historyExport },
  })
  await network.uplinks.recover()
  await beginRepairs(frame, { service, opened }, repairs)
  const followed = followConfig(frame, {
    ...{ service, opened, access, path: options.config, mesh, putInForce },
    onPools: () => repairs.unrecorded.poolsChanged(),
  })
  await followed.begin()
  cluster?.start()
  network.links.start()
  await network.gateways.compare()
  // Before the first ADD, which may depend on it that the store was reached.
  await mesh?.start()
  await listen(frame, http, { kept, ledger, listeners })
  startTasks(frame, { opened, kept, repairs, node, tasks, followed })
  const signal = await stopped
  logger.info({ signal }, 'stopping')
  await stops.all.disposeAsync()
  logger.info('stopped')
}

/** undici and all that stands on it are loaded only where there is an API. */
async function connectCluster(
  { config, logger, place }: DaemonFrame,
  { access, here, storeSpec }: ConnectClusterOptions,
): Promise<Cluster> {
  const { Cluster } = await import('../kubernetes/cluster.ts')
  return new Cluster({
    access,
    node: here,
    watchNamespaces: wantsNamespaces(config),
    kubernetesStore: storeSpec?.kind === 'kubernetes',
    log: logger,
    remedy: place.remedy,
  })
}

interface ConnectClusterOptions {
  readonly access: ApiAccess
  /** The name of this node. */
  readonly here: string
  readonly storeSpec: StoreSpec | undefined
}

interface StartedParts {
  readonly opened: OpenedLedger
  readonly kept: StateFolder['kept']
  readonly repairs: AssembledRepairs
  readonly node: WatchedNode
  readonly tasks: AssembledTasks
  readonly followed: FollowedConfig
}

/** What goes on by itself while requests are answered. */
function startTasks(frame: DaemonFrame, parts: StartedParts): void {
  const { logger } = frame
  const { opened, kept, repairs, node, tasks, followed } = parts
  kept.start()
  repairs.answers.start()
  node.start()
  tasks.times.wake()
  tasks.leaderTasks.start()
  followed.follow()
  repairs.deferred.watch(error => {
    logger.error(
      { err: error },
      'the queue of deferred DELs cannot be watched; it is drained at the next start',
    )
  })
  tellServing(frame, opened)
  void verifyFile(opened.ledger, logger)
  void tasks.pruner.start()
  tasks.historyExport.start()
  void tasks.useSamples.start()
  void followed.forget()
}

function tellServing(
  { clock, socket, stateDir, logger, startedMonotonic }: DaemonFrame,
  { store, ledger }: OpenedLedger,
): void {
  const { lease: leases } = ledger.counts()
  const readyAfterMs = Math.round(clock.monotonic() - startedMonotonic)
  logger.info({ version, socket, stateDir, store: store.location, leases, readyAfterMs }, 'serving')
}

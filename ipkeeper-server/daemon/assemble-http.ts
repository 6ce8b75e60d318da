import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ProblemDocument } from '../../shared/problem/problem.ts'
import { version } from '../../shared/build-info.ts'
import { folderInode } from '../host/folder-inode.ts'
import { FolderPulse } from '../host/folder-pulse.ts'
import { buildApp } from '../http/build-app.ts'
import { KeptSocket } from '../http/kept-socket.ts'
import { MetricsListener } from '../http/metrics-listener.ts'
import type { StringMap } from '../ipam/records/pod-facts.ts'
import { unreadOnPods } from '../kubernetes/annotations/unread-on-pods.ts'
import type { ApiAccess } from '../kubernetes/api-client.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import { outcomeEvent } from '../kubernetes/event-texts.ts'
import { definitionBehind, selectionKey } from '../diagnose/lint/network-selection.ts'
import { Ledger } from '../leases/ledger/ledger.ts'
import { measureUsage } from '../leases/queries/measure-usage.ts'
import type { NameClaims } from '../leases/tasks/name-claims.ts'
import type { NodeFacts } from '../leases/verbs/invocation.ts'
import { RequestReader } from '../leases/verbs/request-reader.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import type { VerbObserver } from '../leases/verbs/verb-observer.ts'
import { Scraper } from '../metrics/scrape.ts'
import { seeNamespace } from '../network/pod/attachment-liveness.ts'
import { reachNetns } from '../network/pod/namespace.ts'
import { readResolvConf } from '../network/resolv-conf.ts'
import type { OpenedLedger, StateFolder } from './assemble-ledger.ts'
import type { AssembledNetwork } from './assemble-network.ts'
import type { AssembledRepairs } from './assemble-repairs.ts'
import type { DaemonFrame } from './daemon-frame.ts'
import type { DaemonPlace } from './daemon-place.ts'
import type { KeptRoom } from './disk-room.ts'
import type { LeaderTasks } from './leader-tasks.ts'
import type { OpenHistoryExport } from './open-history-export.ts'
import { configJudge } from './judge-config.ts'
import { openListener } from './open-listener.ts'
import { openPage, type OpenPage } from './open-page.ts'
import { openWebhook } from './open-webhook.ts'
import type { SettingsInForce } from './settings-in-force.ts'
import type { WatchedNode } from './watch-node.ts'

export interface Listeners {
  readonly metricsListener: MetricsListener | undefined
  readonly page: OpenPage
}

/** Takes the addresses that are listened on, those that can be had; nothing is served there yet. */
export async function openListeners(frame: DaemonFrame): Promise<Listeners> {
  const { config, startedAt, stops } = frame
  const metricsListener = await openMetrics(frame)
  const page = await openPage(config, startedAt, frame)
  stops.page.defer(() => page.close())
  return { metricsListener, page }
}

async function openMetrics({ config, parts, stops }: DaemonFrame): Promise<MetricsListener | undefined> {
  const { listen, tokenFile } = config.metrics
  if (!listen) return undefined
  const listener = new MetricsListener(tokenFile)
  stops.metrics.defer(await openListener(parts, 'metrics', listener, listen))
  return listener
}

export interface HttpOptions {
  readonly service: LeaseService
  readonly settings: SettingsInForce
  readonly folder: StateFolder
  readonly opened: OpenedLedger
  readonly claims: NameClaims | undefined
  readonly network: AssembledNetwork
  readonly repairs: AssembledRepairs
  readonly leaderTasks: LeaderTasks
  readonly node: WatchedNode
  /** undefined where no API is configured. */
  readonly access: ApiAccess | undefined
  readonly cluster: Cluster | undefined
  readonly observer: VerbObserver
  readonly historyExport: OpenHistoryExport
}

export interface AssembledHttp {
  readonly app: Awaited<ReturnType<typeof buildApp>>
  readonly scraper: Scraper
}

/** All that answers requests, ready to listen. */
export async function assembleHttp(frame: DaemonFrame, options: HttpOptions): Promise<AssembledHttp> {
  const { service, settings, folder, opened, claims, repairs, node, cluster, observer } = options
  const {
    clock,
    config,
    watched,
    keeper,
    startedAt,
    stateDir,
    place,
    socket,
    logger,
    registry,
    binDirs,
    parts,
    stops,
  } = frame
  const { kept, identity } = folder
  const { store } = opened
  const { deferred, answers } = repairs
  const { uplinks } = options.network
  const nodeFacts = nodeFactsOf(frame, service, cluster)
  const requests = new RequestReader({
    cluster: cluster?.view,
    rules: () => settings.terms().requests,
    pools: service.pools,
    facts: nodeFacts,
  })
  const webhook = await openWebhook({
    ...{ config, service, logger, registry, parts, place },
    rules: () => settings.terms().requests,
    cluster: cluster?.view,
  })
  stops.webhook.defer(() => webhook.close())
  const scraper = openScraper(frame, options, webhook.certificateEnds)
  const pulse = new FolderPulse(`${stateDir}/daemon.lock`, clock.monotonic)
  const app = await buildApp({
    service,
    facts: {
      ...{ version, startedAt, stateDir, stateFolder: folderInode(stateDir), socket },
      remedy: place.remedy,
      store: { kind: store.kind, location: store.location },
      conflist: { ...config.conflist, binDirs },
      identity,
      nameProblem: () => claims?.refusal(),
    },
    nodeFacts,
    requests,
    tellPod: (pod, outcome, { ifname, network }) => {
      const chosen = cluster?.view.pod(pod)?.annotations[selectionKey]
      const definition = definitionBehind(chosen, { namespace: pod.namespace, ifname })
      cluster?.events.record(pod, outcomeEvent(outcome, { ifname, network, definition }))
    },
    askedAgain: invocationId => answers.askedAgain(invocationId),
    cluster: cluster?.view,
    config: () => {
      const { problem, ...status } = watched.status()
      const copy = keeper.problem()?.toDocument() ?? null
      return { ...status, problem: hereOf(problem, place), copy: hereOf(copy, place) }
    },
    checkConfig: configJudge(frame, service, options.access),
    clusterStatus: () =>
      cluster && {
        ...cluster.status(),
        unread: unreadOnPods(cluster.pods(), settings.terms().requests.dialects),
      },
    leader: options.leaderTasks.leader,
    jumps: () => clock.jumps(),
    deferredDels: () => deferred.count(),
    disk: kept.status,
    parts: () => parts.states(),
    historyExport: options.historyExport.status,
    stateFolderBeats: () => pulse.beats(),
    uplinks,
    observer,
    minAgeUnproved: () => watched.current.reconcile.minAgeUnproved,
    metrics: () => scraper.page(),
    nodeRoutes: [node.addRoutes],
    logger,
  })
  return { app, scraper }
}

/** Serves from now on, on the socket and wherever else is listened. */
export async function listen(
  { socket, logger, stops }: DaemonFrame,
  { app, scraper }: AssembledHttp,
  {
    kept,
    ledger,
    listeners,
  }: { readonly kept: KeptRoom; readonly ledger: Ledger; readonly listeners: Listeners },
): Promise<void> {
  const { metricsListener, page } = listeners
  const listening = await kept.room.make(socket, () =>
    KeptSocket.open({
      app,
      path: socket,
      onMade: () => {
        logger.warn({ socket }, 'the socket was removed by another process; it was created again')
      },
      onProblem: ({ code, message, hint }) => {
        logger.error({ code, hint }, `the socket is missing and cannot be created again yet: ${message}`)
      },
    }),
  )
  stops.socket.defer(async () => {
    await Promise.all([listening.close(), app.close()])
  })
  metricsListener?.serve(
    () => scraper.page(),
    error => {
      logger.warn({ err: error }, 'the metrics could not be served')
    },
  )
  page.serve({
    ledger,
    ask: async url => {
      const { statusCode, body } = await app.inject({ method: 'GET', url })
      return { status: statusCode, body }
    },
  })
}

function openScraper(
  { startedAt, watched, registry, parts, clock }: DaemonFrame,
  { service, folder, opened, claims, repairs, leaderTasks, node, cluster, historyExport }: HttpOptions,
  certificateEnds: () => number | undefined,
): Scraper {
  const { kept } = folder
  const { ledger } = opened
  const { deferred } = repairs
  return new Scraper(registry, {
    version,
    startedAt,
    ...{ monotonic: () => performance.now(), now: clock.now },
    usage: () => measureUsage(service, () => nextTurn()),
    counts: () => ledger.counts(),
    operationsUnderWay: () => service.serial.busy,
    deferredDels: () => deferred.count(),
    disk: kept.status,
    parts: () => parts.states(),
    historyExport: historyExport.status,
    config: () => watched.status(),
    cluster: () => cluster?.status(),
    sharedStore: () => {
      const status = ledger.storeStatus()
      if (!status) return undefined
      const { state, owed, waitsFor = [] } = status
      return {
        ...{ away: state === 'away', incomplete: state === 'incomplete', awaited: waitsFor.length },
        ...{ owed, elected: leaderTasks.isElected?.() },
      }
    },
    nameLost: () => claims && claims.refusal() !== undefined,
    storeFile: () => {
      const { file } = ledger
      if (!file) return undefined
      const code = file.fault()?.code
      const fault = code && (code === 'IPK_STORE_LOST' ? 'lost' : 'damaged')
      return { fault, history: file.findings().length }
    },
    certificateEnds,
    busyMs: () => performance.eventLoopUtilization().active,
    ...node.figures,
  })
}

/** What an ADD asks of the node and of the API beside the ledger. */
function nodeFactsOf(
  { config, watched }: DaemonFrame,
  { ledger, node, bootId }: LeaseService,
  cluster: Cluster | undefined,
): NodeFacts {
  return {
    node,
    bootId,
    namespaceAt: seeNamespace,
    reachNetns,
    readResolvConf,
    nodeLabels: () => nodeLabels(watched.current.nodeLabels, cluster?.view.nodeLabels()),
    sharedWithOtherNodes: () =>
      !ledger.isShared && !config.store.singleNode && cluster?.view.hasOtherNodes() === true,
  }
}

/** Labels of this node: what the API says goes before what the file says. */
function nodeLabels(ofFile: StringMap, ofApi: StringMap | undefined): StringMap | undefined {
  return ofApi === undefined && Object.keys(ofFile).length === 0 ? undefined : { ...ofFile, ...ofApi }
}

const hereOf = (document: ProblemDocument | null, { remedy }: DaemonPlace): ProblemDocument | null =>
  document && { ...document, hint: remedy(document.hint) }

import { resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { version } from '../shared/build-info.ts'
import { Problem, toProblem } from '../shared/problem/problem.ts'
import type { DaemonConfig } from './config/load-config.ts'
import { WatchedConfig } from './config/watch-config.ts'
import { buildApp } from './http/build-app.ts'
import { checkSocketPath, listenUnix } from './http/listen-unix.ts'
import { delAttachment } from './leases/del.ts'
import { endStray } from './leases/end-stray.ts'
import { forgetLeases } from './leases/forget-leases.ts'
import {
  interpretBegan,
  interpretKey,
  interpretRemains,
  type NodeFacts,
  type RequestRules,
} from './leases/interpret-request.ts'
import { Ledger } from './leases/ledger.ts'
import { measureUsage } from './leases/measure-usage.ts'
import { HistoryPruner } from './leases/prune-history.ts'
import { RequestReader } from './leases/request-reader.ts'
import { Serial } from './leases/serial.ts'
import type { LeaseService } from './leases/service.ts'
import { Tombstones } from './leases/tombstones.ts'
import type { StringMap } from './ipam/pod-facts.ts'
import { describeHolder, type AttachmentRecord, type LeaseRecord } from './ipam/records.ts'
import type { PoolBook } from './ipam/pool-book.ts'
import type { PoolSettings } from './ipam/pool-settings.ts'
import type { ApiAccess } from './kubernetes/api-access.ts'
import type { NodeState } from './kubernetes/cluster-view.ts'
import { chooseAccess } from './kubernetes/choose-access.ts'
import { outcomeEvent } from './kubernetes/outcome-event.ts'
import { applyPools } from './leases/apply-pools.ts'
import { openDuties } from './duties.ts'
import { PoolObjects } from './leases/pool-objects.ts'
import { readPoolSpec } from './config/read-pool-object.ts'
import { folderInode } from './folder-inode.ts'
import { joinNodes } from './join-nodes.ts'
import { makeFolder } from './make-folder.ts'
import { createLogger, type Logger } from './logging/logger.ts'
import { MetricRegistry } from './metrics/metric-registry.ts'
import { MetricsListener } from './metrics/metrics-listener.ts'
import { ObservedStore } from './metrics/observed-store.ts'
import { storeObserver, verbObserver } from './metrics/observers.ts'
import { Scraper } from './metrics/scrape.ts'
import { attachmentLiveness, seeNamespace } from './network/attachment-liveness.ts'
import { listLinks } from './network/host-links.ts'
import { HostView } from './network/host-view.ts'
import { readBootId } from './network/netns.ts'
import { PodWirer } from './network/pod-wirer.ts'
import { runTool } from './network/run-tool.ts'
import { removeSeenLink } from './network/seen-link-removal.ts'
import { UplinkBridges } from './network/uplink-bridges.ts'
import { readResolvConf } from './network/resolv-conf.ts'
import { AnsweredMarks } from './reconcile/answered-marks.ts'
import { DeferredDels } from './reconcile/deferred-dels.ts'
import { SettleAnswers } from './reconcile/settle-answers.ts'
import { StrayLinks } from './reconcile/stray-links.ts'
import { watchNode } from './watch-node.ts'
import { openPage } from './open-page.ts'
import { openStore } from './open-store.ts'
import { openWebhook } from './open-webhook.ts'
import { parseStoreSpec } from './store/store-spec.ts'
import { lockStateFolder } from './store/sqlite/state-lock.ts'

export interface ServeOptions {
  readonly socket: string
  readonly stateDir: string
  readonly config: string
  /** Whether --config was given: then the file must be there. */
  readonly configNamed: boolean
  /** See parseStoreSpec; default: sqlite in the state folder. */
  readonly store: string | undefined
  /** This node's name where the configuration has none; undefined: the hostname. */
  readonly standardNode: string | undefined
}

function makeStateDir(path: string): void {
  try {
    makeFolder(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new Problem('IPK_STORE_FAILED', `state folder ${path} cannot be made (${code})`, {
      cause: error,
      hint: 'run as root, or choose another --state-dir',
    })
  }
}

/**
 * Runs the daemon until SIGTERM or SIGINT; resolves when everything is answered and closed. The only place that names
 * concrete classes. Order matters: the locks before the socket, all leases before the first request.
 */
export async function serve(options: ServeOptions): Promise<void> {
  const startedAt = Date.now()
  // Who else may read what: nobody. SQLite makes its files by the umask.
  process.umask(0o077)
  // Asked for from the start: a signal while leases are read or DELs drained ends the daemon with exit 0 as well.
  const stopped = stopSignal()
  const stateDir = resolve(options.stateDir)
  const socket = resolve(options.socket)
  const watched = WatchedConfig.open(
    resolve(options.config),
    options.configNamed,
    Date.now,
    options.standardNode,
  )
  const config = watched.current
  // From the start, since a hang-up would end the process.
  const onHangUp = (): void => void watched.reload()
  process.on('SIGHUP', onHangUp)
  const logger = createLogger(config.logLevel, config.node)
  dieOnBugs(logger)
  const storeSpec = options.store === undefined ? undefined : parseStoreSpec(options.store)
  // Before a state folder is made for a daemon that cannot be reached.
  await checkSocketPath(socket)
  const { listen } = config.metrics
  const metricsListener = listen && (await MetricsListener.open(listen))
  const page = await openPage(config, startedAt, logger)
  makeStateDir(stateDir)
  const unlockStateDir = lockStateFolder(stateDir)
  const registry = new MetricRegistry()
  const observer = verbObserver(registry)
  const access = chooseAccess(config.kubernetes, { env: process.env, monotonic: () => performance.now() })
  let onStoreReady = (): void => undefined
  const stored = await openStore(storeSpec, {
    stateDir,
    node: config.node,
    access,
    log: logger,
    etcd: config.store.etcd,
    onStatus: ({ state, reason, owed }) => {
      if (state === 'ready') onStoreReady()
      if (reason === undefined) logger.info({ owed }, 'the store can be reached again')
      else logger.warn({ state, reason, owed }, 'the store cannot be reached, or not be heard')
    },
    isPoolInUse: name => ledger.hasLiveLease({ name }),
    onLost: ({ kind, key }) => {
      logger.error(
        { kind, key },
        'an address that is bound on this node went to somebody else while the store was away',
      )
    },
  })
  const store = new ObservedStore(stored, storeObserver(registry))
  const ledger: Ledger = await Ledger.open(store, Date.now, config.node, (kind, key) => {
    logger.error({ kind, key }, 'a record of the store is not as ipkeeper writes it, and is passed over')
  })
  // From here on little is kept of what is made: let V8 tidy up early instead of growing
  // (docs/adr/0007-memory-of-the-daemon.md). Before, it would slow the loading down.
  setFlagsFromString('--heap-growing-percent=20')
  const bootId = readBootId()
  let configInForce = config
  let inForce = termsOf(config, config.pools, access !== undefined)
  requireApi(config, options.config, access)
  // undici and all that stands on it are loaded only where there is an API.
  const cluster =
    access &&
    new (await import('./kubernetes/cluster.ts')).Cluster({
      access,
      node: config.node,
      watchNamespaces: wantsNamespaces(config),
      kubernetesStore: storeSpec?.kind === 'kubernetes',
      log: logger,
    })
  const nodeState = (name: string): NodeState => cluster?.view.node(name) ?? 'unknown'
  const wiring = {
    run: runTool,
    host: new HostView(runTool, config.node, () => performance.now()),
    node: config.node,
    bootId,
    isGateway: (address: string): boolean => ledger.isGateway(address),
    subnetsOf: (pool: string) => (ledger.pool(pool)?.ranges ?? []).flat().map(({ subnet }) => subnet),
    attachments: function* (): Iterable<readonly [AttachmentRecord, readonly LeaseRecord[]]> {
      for (const attachment of ledger.attachments()) yield [attachment, ledger.leasesOf(attachment)]
    },
  }
  const uplinks = new UplinkBridges({
    ...wiring,
    stateDir,
    now: Date.now,
    onChange: (what, { bridge, uplink, moved }) => {
      const [addresses, routes] = [moved.addresses.length, moved.routes.length]
      logger.info({ bridge, uplink, addresses, routes }, `uplink ${what}`)
    },
    onProblem: (bridge, error) => {
      logger.error({ bridge, err: error }, 'an uplink could not be given back; it is tried again')
    },
  })
  const network = new PodWirer({
    ...wiring,
    uplinks,
    onWired: () => joined?.wired(),
    onProblem: error => {
      logger.warn(
        { err: error },
        'nft could not be told that addresses are no longer in use; it is tried again',
      )
    },
  })
  const shared = { ledger, node: config.node, bootId, now: Date.now }
  const joined = joinNodes({
    config: () => watched.current,
    service: shared,
    keepsNodes: store.kind !== 'kubernetes',
    logger,
    cluster,
  })
  const service: LeaseService = {
    ...shared,
    network,
    pools: () => inForce.pools,
    ownerOf: (holder, uid) =>
      holder.kind === 'pod'
        ? cluster?.view.pod({ namespace: holder.namespace, name: holder.name, uid })?.owner
        : undefined,
    serial: new Serial(),
    tombstones: new Tombstones(),
    ...(joined && { silenceOf: joined.silenceOf, refusal: joined.refusal }),
    liveness: attachment => attachmentLiveness(attachment, config.node, bootId, nodeState),
  }
  const poolObjects = new PoolObjects({
    service,
    read: readPoolSpec,
    onChange: () => {
      putInForce(configInForce)
    },
    onNote: (name, text) => {
      if (text === undefined) logger.info({ ippool: name }, `ippool ${name}: is as it stands again`)
      else logger.warn({ ippool: name }, `ippool ${name}: ${text}`)
    },
  })
  const putInForce = (next: DaemonConfig): void => {
    const pools = poolObjects.join(next)
    configInForce = next
    inForce = termsOf(next, pools, access !== undefined)
    cluster?.setWatchNamespaces(wantsNamespaces({ ...next, pools }))
  }
  const duties = await openDuties({
    ...{ config, service, access, logger },
    reconcileTerms: () => watched.current.reconcile,
    cluster: cluster?.view,
    storeKind: store.kind,
  })
  const pruner = new HistoryPruner({
    ledger,
    limits: () => watched.current.history,
    now: Date.now,
    onPruned: entries => {
      logger.info({ entries }, 'the history let its oldest entries go')
    },
    onError: error => {
      logger.warn({ err: error }, 'the history could not be shortened; it is tried again in an hour')
    },
  })
  const deferred = new DeferredDels({
    stateDir,
    del: async request => {
      const began = interpretBegan(request, request.bootId)
      const { late } = await delAttachment(service, interpretKey(request), began, interpretRemains(request))
      if (late) observer.lateDel(late)
    },
    onDone: ({ containerId, ifname, config: { name } }, queuedAt) => {
      registry.count('ipkeeper_deferred_dels_done_total')
      logger.info({ verb: 'del', containerId, ifname, network: name, queuedAt }, 'carried out a deferred DEL')
    },
    onQuarantine: (file, reason) => {
      logger.error({ file, reason }, 'a deferred DEL cannot be understood and was put aside')
    },
    onRetry: (file, error) => {
      logger.warn({ file, err: error }, 'a deferred DEL could not be carried out yet')
    },
  })
  const answers = new SettleAnswers({
    service,
    marks: new AnsweredMarks(stateDir),
    monotonic: () => performance.now(),
    onUndone: ({ network, containerId, ifname, holder }) => {
      observer.undone('never_answered')
      logger.warn(
        { network, containerId, ifname, holder: describeHolder(holder) },
        'an ADD that was never answered, since the daemon or its plugin ended, was undone',
      )
    },
    onError: error => {
      logger.warn({ err: error }, 'which ADDs were answered could not be settled yet; it is tried again')
    },
  })
  const strayLinks = new StrayLinks({
    look: () => listLinks(runTool, ['type', 'veth']),
    remove: link => removeSeenLink(runTool, link),
    attachments: () => ledger.attachments(),
    monotonic: () => performance.now(),
    onRemoved: ({ name, alias }) => {
      logger.warn({ link: name, alias }, 'removed a link that a program of an earlier daemon made too late')
    },
    onError: error => {
      logger.warn({ err: error }, 'links that an earlier daemon left could not be looked for')
    },
  })
  const node = watchNode({
    ...{ config, service, stateDir, logger, cluster },
    lostNodes: duties.lostNodes,
    onFindings: page.found,
    reconcileTerms: () => watched.current.reconcile,
    nodeRoutes: () => watched.current.nodeRoutes,
  })
  const nodeFacts: NodeFacts = {
    node: config.node,
    bootId,
    namespaceAt: seeNamespace,
    readResolvConf,
    nodeLabels: () => nodeLabels(watched.current.nodeLabels, cluster?.view.nodeLabels()),
    sharedWithOtherNodes: () =>
      !ledger.isShared && !config.store.singleNode && cluster?.view.hasOtherNodes() === true,
  }
  const requests = new RequestReader({
    cluster: cluster?.view,
    rules: () => inForce.requests,
    pools: service.pools,
    facts: nodeFacts,
  })
  const webhook = await openWebhook({
    ...{ config, service, logger, registry },
    rules: () => inForce.requests,
    cluster: cluster?.view,
  })
  const scraper = new Scraper(registry, {
    version,
    startedAt,
    monotonic: () => performance.now(),
    usage: () => measureUsage(service, () => nextTurn()),
    counts: () => ledger.counts(),
    operationsUnderWay: () => service.serial.busy,
    deferredDels: () => deferred.count(),
    config: () => watched.status(),
    cluster: () => cluster?.status(),
    sharedStore: () => {
      const status = ledger.storeStatus()
      return status && { away: status.state === 'away', owed: status.owed, elected: duties.isElected?.() }
    },
    certificateEnds: webhook.certificateEnds,
    busyMs: () => performance.eventLoopUtilization().active,
    ...node.figures,
  })
  const app = await buildApp({
    service,
    facts: {
      ...{ version, startedAt, stateDir, stateFolder: folderInode(stateDir), socket },
      store: { kind: store.kind, location: store.location },
      conflist: config.conflist,
    },
    nodeFacts,
    requests,
    tellPod: (pod, outcome) => cluster?.events.record(pod, outcomeEvent(outcome)),
    askedAgain: invocationId => answers.askedAgain(invocationId),
    cluster: cluster?.view,
    config: () => watched.status(),
    clusterStatus: () => cluster?.status(),
    deferredDels: () => deferred.count(),
    uplinks,
    observer,
    metrics: () => scraper.page(),
    nodeRoutes: [node.addRoutes],
    logger,
  })
  await uplinks.recover()
  // Before the first ADD: what was deleted while nobody was here must not look as if it were in use.
  await deferred.drain()
  await answers.begin()
  strayLinks.start()
  ledger.onStray = key => {
    void endStray(service, key, error => {
      logger.warn({ err: error, ...key }, 'a deleted attachment that appeared again could not be ended yet')
    })
  }
  ledger.onUnanswered = () => {
    answers.wake()
  }
  const applyOwnPools = async (): Promise<void> => {
    const { pools } = watched.current
    await applyPools(service, pools, () => {
      putInForce(watched.current)
    })
  }
  try {
    await applyOwnPools()
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'IPK_STORE_AWAY') throw error
    logger.warn({ err: error }, 'the store is told of the pools of the configuration when it is back')
    onStoreReady = () => {
      onStoreReady = () => undefined
      applyOwnPools().catch((failure: unknown) => {
        logger.error({ err: failure }, 'the store could not be told of the pools of the configuration')
      })
    }
  }
  cluster?.start()
  // Before the first ADD, which may depend on it that the store was reached.
  await joined?.start()
  await listenUnix(app, socket)
  metricsListener?.serve(
    () => scraper.page(),
    error => {
      logger.warn({ err: error }, 'the page of metrics could not be served')
    },
  )
  page.serve({
    ledger,
    ask: async url => {
      const { statusCode, body } = await app.inject({ method: 'GET', url })
      return { status: statusCode, body }
    },
  })
  answers.start()
  node.start()
  duties.start()
  const forget = async (): Promise<void> => {
    await forgetLeases(service).catch((error: unknown) => {
      logger.warn({ err: error }, 'addresses that were remembered for a pool of old could not be forgotten')
    })
  }
  watched.watch({
    apply: async (next, previous) => {
      requireApi(next, options.config, access)
      try {
        const former = new Set(previous.pools.map(({ pool }) => pool.name))
        const { added, changed, removed, displaced, notes } = await applyPools(
          service,
          next.pools,
          () => {
            putInForce(next)
          },
          former,
        )
        logger.info({ added, changed, removed, displaced, notes }, 'configuration read anew')
      } catch (error) {
        putInForce(previous)
        throw error
      }
      await forget()
      joined?.wake()
      logger.level = next.logLevel
    },
    onProblem: problem => {
      logger.error(
        { code: problem.code, details: problem.details, hint: problem.hint },
        `the last good configuration stays in force: ${problem.message}`,
      )
    },
    onUnwatched: (folder, error) => {
      // Most nodes have no such folder; a stack in the log of a first start looks like a fault, and is none.
      const absent = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      logger.info(
        { folder, ...(!absent && { err: error }) },
        absent
          ? 'there is no such folder for a configuration; it is looked for every few seconds'
          : 'the folder of the configuration cannot be watched; it is looked at every few seconds',
      )
    },
  })
  deferred.watch(error => {
    logger.error(
      { err: error },
      'the queue of deferred DELs cannot be watched; it is drained at the next start',
    )
  })
  const counts = ledger.counts()
  logger.info(
    {
      version,
      socket,
      stateDir,
      store: store.location,
      leases: counts.lease,
      readyAfterMs: Date.now() - startedAt,
    },
    'serving',
  )
  void pruner.start()
  void forget()
  const signal = await stopped
  logger.info({ signal }, 'stopping')
  poolObjects.stop()
  pruner.stop()
  await duties.stop()
  await watched.stop()
  process.off('SIGHUP', onHangUp)
  await metricsListener?.close()
  await page.close()
  await webhook.close()
  await app.close()
  await cluster?.stop()
  await deferred.stop()
  await answers.stop()
  await strayLinks.stop()
  await node.stop()
  await joined?.stop()
  await service.serial.idle()
  await network.idle()
  await store.close()
  unlockStateDir()
  logger.info('stopped')
}

/** What of a configuration the verbs are served by. */
function termsOf(
  config: DaemonConfig,
  pools: readonly PoolSettings[],
  hasApi: boolean,
): { readonly pools: PoolBook; readonly requests: RequestRules } {
  const { retention, cooldown, preferFor } = config
  return {
    pools: { pools, standard: { retention, cooldown, preferFor, strategy: 'lowest-free' } },
    requests: {
      dialects: new Set(config.annotations),
      namespaceDefaults: config.namespaceDefaults,
      requireAnnotations: config.requireAnnotations ?? hasApi,
    },
  }
}

function wantsNamespaces({
  namespaceDefaults,
  pools,
}: Pick<DaemonConfig, 'namespaceDefaults' | 'pools'>): boolean {
  return namespaceDefaults || pools.some(({ rules }) => rules.namespaceSelector !== undefined)
}

/** Refuses what nobody could ever obey without a Kubernetes API, since every ADD would fail for it. */
function requireApi(config: DaemonConfig, path: string, access: ApiAccess | undefined): void {
  if (access || !wantsNamespaces(config)) return
  const what = config.namespaceDefaults ? 'namespaceDefaults' : 'the "namespaceSelector" of a pool'
  throw new Problem(
    'IPK_DAEMON_CONFIG',
    `${path}: ${what} needs the Kubernetes API, and none is configured`,
    {
      hint: 'name a kubeconfig: kubernetes: { mode: kubeconfig, kubeconfig: PATH }, or take that key out',
    },
  )
}

/** Labels of this node: what the API says goes before what the file says. */
function nodeLabels(ofFile: StringMap, ofApi: StringMap | undefined): StringMap | undefined {
  return ofApi === undefined && Object.keys(ofFile).length === 0 ? undefined : { ...ofFile, ...ofApi }
}

async function stopSignal(): Promise<NodeJS.Signals> {
  return await new Promise(resolve_ => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, resolve_)
  })
}

/** What a bug that nobody caught looks like: one fatal line, and the process ends so that its supervisor starts it afresh. */
function dieOnBugs(logger: Pick<Logger, 'fatal'>): void {
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      logger.fatal({ err: toProblem(error) }, 'internal error; stopping')
      process.exit(70)
    })
  }
}

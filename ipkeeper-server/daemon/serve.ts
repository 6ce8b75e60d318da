import { resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { version } from '../../shared/build-info.ts'
import { Problem, toProblem } from '../../shared/problem/problem.ts'
import { shellWord } from '../../shared/text/shell-word.ts'
import { Clock, describeJump } from '../host/clock.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import { WatchedConfig } from '../config/watch-config.ts'
import { buildApp } from '../http/build-app.ts'
import { KeptSocket } from '../http/kept-socket.ts'
import { checkSocketPath } from '../http/listen-unix.ts'
import { serveDel, endStray } from '../leases/verbs/del.ts'
import { forgetLeases } from '../leases/tasks/forget-leases.ts'
import { parseInvocation, type NodeFacts } from '../leases/verbs/invocation.ts'
import { type RequestRules, RequestReader } from '../leases/verbs/request-reader.ts'
import { Ledger } from '../leases/ledger/ledger.ts'
import { measureUsage } from '../leases/queries/measure-usage.ts'
import { HistoryPruner } from '../leases/tasks/prune-history.ts'
import { RecentAnswers, Tombstones } from '../leases/verbs/recent-verbs.ts'
import { Serial } from '../leases/verbs/turns.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import { TimeWriter } from '../leases/tasks/write-times.ts'
import type { StringMap } from '../ipam/records/pod-facts.ts'
import { describeHolder, type AttachmentRecord, type LeaseRecord } from '../ipam/records/records.ts'
import type { PoolBook, PoolSettings } from '../ipam/pools/pool-settings.ts'
import type { ApiAccess } from '../kubernetes/api-client.ts'
import type { NodeState } from '../kubernetes/cluster-view.ts'
import { chooseAccess } from '../kubernetes/choose-access.ts'
import { outcomeEvent } from '../kubernetes/event-texts.ts'
import { applyPools } from '../leases/verbs/apply-pools.ts'
import { openDuties } from './leader-tasks.ts'
import { PoolObjects } from '../leases/tasks/pool-objects.ts'
import { readPoolSpec } from '../config/read-pool-object.ts'
import { folderInode } from '../host/folder-inode.ts'
import { FolderPulse } from '../host/folder-pulse.ts'
import { joinNodes } from './node-mesh.ts'
import { keepRoom } from './disk-room.ts'
import { claimNames, knowNode, nameNode } from './name-node.ts'
import { makeFolder } from '../host/make-folder.ts'
import { FailureReasons } from '../host/failure-reasons.ts'
import { createLogger, type Logger } from '../host/logger.ts'
import { refuseAll } from './refuse-all.ts'
import { MetricRegistry } from '../metrics/metric-registry.ts'
import { MetricsListener } from '../http/metrics-listener.ts'
import { ObservedStore, storeObserver, verbObserver } from '../metrics/observed-store.ts'
import { Scraper } from '../metrics/scrape.ts'
import { attachmentLiveness, lostNode, seeNamespace } from '../network/pod/attachment-liveness.ts'
import { listLinks } from '../network/ip-show.ts'
import { LinkWatch } from '../network/node/link-watch.ts'
import { HostView } from '../network/node/host-view.ts'
import { readBootId } from '../host/boot.ts'
import { reachNetns } from '../network/pod/namespace.ts'
import { PodWirer } from '../network/pod-wirer.ts'
import { runTool } from '../network/run-tool.ts'
import { removeSeenLink } from '../network/node/link-removal.ts'
import { UplinkBridges } from '../network/node/uplink-bridges.ts'
import { readResolvConf } from '../network/resolv-conf.ts'
import { AnsweredMarks } from '../reconcile/answered-marks.ts'
import { DeferredDels } from '../reconcile/deferred-dels.ts'
import { FalseAnswers } from '../reconcile/false-answers.ts'
import { SettleAnswers } from '../reconcile/settle-answers.ts'
import { StrayLinks } from '../reconcile/stray-links.ts'
import { YieldAddresses } from '../reconcile/yield-addresses.ts'
import { watchNode } from './watch-node.ts'
import { openPage } from './open-page.ts'
import { openStore } from '../open-ledger/open-store.ts'
import { openWebhook } from './open-webhook.ts'
import { parseStoreSpec } from '../store/store-spec.ts'
import { lockStateFolder } from '../store/sqlite/state-lock.ts'

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
  const clock = new Clock()
  const startedAt = clock.now()
  const startedMonotonic = clock.monotonic()
  // Who else may read what: nobody. SQLite makes its files by the umask.
  process.umask(0o077)
  // Asked for from the start: a signal while leases are read or DELs drained ends the daemon with exit 0 as well.
  const stopped = stopSignal()
  const stateDir = resolve(options.stateDir)
  const socket = resolve(options.socket)
  const watched = WatchedConfig.open(
    resolve(options.config),
    options.configNamed,
    clock.now,
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
  const kept = keepRoom(storeSpec, stateDir, logger)
  const unlockStateDir = await kept.room.make(stateDir, () => lockStateFolder(stateDir))
  const bootId = readBootId()
  const identity = await kept.room.make(stateDir, () =>
    knowNode({ stateDir, name: config.node, bootId, now: Date.now, logger }),
  )
  const registry = new MetricRegistry()
  const observer = verbObserver(registry)
  const access = chooseAccess(config.kubernetes, { env: process.env, monotonic: () => performance.now() })
  let onStoreReady = (): void => undefined
  // Nothing is known before all records are read.
  let isPoolInUse: (name: string) => boolean | undefined = () => undefined
  /** Lost before there is anything to cut off by. */
  const lostEarly: LeaseRecord[] = []
  let onAddressLost = (had: LeaseRecord): void => void lostEarly.push(had)
  const stored = await openStore(storeSpec, {
    ...{ stateDir, room: kept.room },
    node: config.node,
    formerNames: identity.leftNames(),
    fence: identity.fence,
    access,
    log: logger,
    clock,
    etcd: config.store.etcd,
    begins: {
      results: config.resultCache.folders.results,
      hasOpenedNone: identity.hasOpenedNone,
    },
    onStatus: ({ state, reason, owed, waitsFor }) => {
      if (state === 'ready') onStoreReady()
      if (reason === undefined) logger.info({ owed }, 'the store can be reached again')
      else if (state === 'incomplete')
        logger.error(
          { reason, owed, waitsFor, hint: 'ipkeeperctl status' },
          'the store has lost records: nothing new is given until all nodes have told it again what they hold',
        )
      else logger.warn({ state, reason, owed }, 'the store cannot be reached, or not be heard')
    },
    isPoolInUse: name => isPoolInUse(name),
    pools: () => termsOf(watched.current, watched.current.pools, access !== undefined).pools,
    onLost: had => {
      const { segment, address, holder } = had
      logger.error(
        { segment, address, holder },
        'an address that is bound on this node went to somebody else while the store was away, or had lost records',
      )
      onAddressLost(had)
    },
  })
  await kept.room.make(stateDir, () => {
    identity.opened()
  })
  const store = new ObservedStore(stored, storeObserver(registry))
  const ledger = await Ledger.open(store, clock.now, config.node, (kind, key) => {
    logger.error({ kind, key }, 'a record of the store is not as ipkeeper writes it, and is passed over')
  })
  const openedAt = clock.monotonic()
  let onTimesMoved = (): void => undefined
  clock.onJump = jump => {
    ledger.shiftTimes(jump.by)
    onTimesMoved()
    registry.count('ipkeeper_clock_jumps_total', { direction: jump.by < 0 ? 'back' : 'forward' })
    logger.warn({ seconds: jump.by / 1000 }, describeJump(jump))
  }
  // What an engine that has lost records does not have may be in use all the same.
  const isWhole = (): boolean => ledger.isHeard() && ledger.storeStatus()?.state !== 'incomplete'
  isPoolInUse = name => (isWhole() ? ledger.hasLiveLease({ name }) : undefined)
  // From here on little is kept of what is made: let V8 tidy up early instead of growing
  // (docs/adr/0007-memory-of-the-daemon.md). Before, it would slow the loading down.
  setFlagsFromString('--heap-growing-percent=20')
  const claims = claimNames({
    ...{ identity, ledger, stateDir, logger },
    onChallenge: () => {
      registry.count('ipkeeper_node_name_challenges_total')
    },
  })
  void stopped.then(() => claims?.stop())
  const here = await kept.room.make(stateDir, () =>
    nameNode({
      ...{ identity, ledger, claims, logger, stopped },
      refuse: async problem =>
        await refuseAll({ socket, stateDir, problem, registry, metricsListener, logger }),
    }),
  )
  if (here === undefined) {
    process.off('SIGHUP', onHangUp)
    await Promise.all([metricsListener?.close(), page.close()])
    await store.close()
    await kept.stop()
    unlockStateDir()
    logger.info('stopped')
    return
  }
  let configInForce = config
  let inForce = termsOf(config, config.pools, access !== undefined)
  requireApi(config, options.config, access)
  // undici and all that stands on it are loaded only where there is an API.
  const cluster =
    access &&
    new (await import('../kubernetes/cluster.ts')).Cluster({
      access,
      node: here,
      watchNamespaces: wantsNamespaces(config),
      kubernetesStore: storeSpec?.kind === 'kubernetes',
      log: logger,
    })
  const nodeState = (name: string): NodeState => cluster?.view.node(name) ?? 'unknown'
  const isForgotten = (name: string): boolean => ledger.node(name)?.gone !== undefined
  const links = new LinkWatch({
    run: runTool,
    onTrouble: why => {
      if (why === undefined) logger.info('links and addresses of the node are followed again')
      else logger.warn({ reason: why }, 'links and addresses of the node are read anew for each ADD')
    },
  })
  const wiring = {
    run: runTool,
    host: new HostView(
      runTool,
      here,
      () => performance.now(),
      async bridge => (await links.now()).portsOf(bridge),
    ),
    linksWithMac: async (mac: string): Promise<readonly string[]> => (await links.now()).withMac(mac),
    node: here,
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
    now: clock.now,
    monotonic: clock.monotonic,
    onChange: (what, { bridge, uplink, moved }) => {
      const [addresses, routes] = [moved.addresses.length, moved.routes.length]
      logger.info({ bridge, uplink, addresses, routes }, `uplink ${what}`)
    },
    onProblem: (bridge, error) => {
      logger.error({ bridge, err: error }, 'an uplink could not be given back; it is tried again')
    },
  })
  const falseAnswers = new FalseAnswers(() => performance.now())
  const network = new PodWirer({
    ...wiring,
    uplinks,
    monotonic: clock.monotonic,
    onWired: () => joined?.wired(),
    onUnguarded: error => {
      logger.warn(
        { err: error },
        'pods of this node cannot be kept from answering when others ask for an address',
      )
    },
    onFalseAnswer: ({ attachment, addresses, askedFor }) => {
      registry.count('ipkeeper_false_answers_total')
      // The first time; what goes on is a finding, and in the figures.
      const { holder, containerId, ifname, wiring } = attachment
      const link = wiring?.hostLink?.name
      if (falseAnswers.note(attachment, addresses) > 1) return
      logger.warn(
        {
          holder: describeHolder(holder),
          containerId,
          ifname,
          link,
          addresses,
          askedFor: askedFor.containerId,
        },
        'a pod answered for addresses that it was not given; nobody believed it',
      )
    },
    onProblem: error => {
      logger.warn(
        { err: error },
        'nft could not be told that addresses are no longer in use; it is tried again',
      )
    },
  })
  const shared = { ledger, node: here, bootId, now: clock.now }
  const joined = joinNodes({
    config: () => watched.current,
    service: shared,
    tellsTime: store.kind !== 'kubernetes',
    bootClock: clock.boot,
    claims,
    logger,
    cluster,
  })
  const service: LeaseService = {
    ...shared,
    network,
    ownAddresses: async () => (await links.now()).own,
    pools: () => inForce.pools,
    ownerOf: (holder, uid) =>
      holder.kind === 'pod'
        ? cluster?.view.pod({ namespace: holder.namespace, name: holder.name, uid })?.owner
        : undefined,
    serial: new Serial(),
    tombstones: new Tombstones(),
    answers: new RecentAnswers(),
    wasAnswered: attachment => answers.wasAnswered(attachment),
    monotonic: clock.monotonic,
    openedAt,
    isOurs: () => claims?.isSure() !== false,
    ...(joined && { contactAgeOf: joined.contactAgeOf }),
    refusal: () => joined?.refusal() ?? kept.refusal(),
    liveness: attachment => attachmentLiveness(attachment, here, bootId, nodeState, isForgotten),
    lostNode: cluster ? name => lostNode(nodeState(name)) : null,
    isForgotten,
  }
  const times = new TimeWriter(service, error => {
    logger.warn({ err: error }, 'until when addresses are kept could not be written anew; it is tried again')
  })
  onTimesMoved = () => {
    times.wake()
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
    reconcileSettings: () => watched.current.reconcile,
    cluster: cluster?.view,
    storeKind: store.kind,
  })
  const pruner = new HistoryPruner({
    ledger,
    limits: () => watched.current.history,
    now: clock.now,
    steadyFor: clock.steadyFor,
    onPruned: entries => {
      logger.info({ entries }, 'the history let its oldest entries go')
    },
    onError: error => {
      logger.warn({ err: error }, 'the history could not be shortened; it is tried again in an hour')
    },
  })
  const deferred = await kept.room.make(
    stateDir,
    () =>
      new DeferredDels({
        ...{ stateDir, spares: kept.spares },
        del: async request => {
          const { late, undone } = await serveDel(service, parseInvocation(request), request.bootId)
          if (late) observer.lateDel(late)
          if (undone) observer.undone('never_answered')
        },
        onDone: ({ containerId, ifname, config: { name } }, queuedAt) => {
          registry.count('ipkeeper_deferred_dels_done_total')
          logger.info(
            { verb: 'del', containerId, ifname, network: name, queuedAt },
            'carried out a deferred DEL',
          )
        },
        onQuarantine: (file, reason) => {
          logger.error({ file, reason }, 'a deferred DEL cannot be understood and was put aside')
        },
        onRetry: (file, error) => {
          logger.warn(
            { file, err: error },
            'a deferred DEL could not be carried out yet; the queue is tried again every few seconds',
          )
        },
        onRetriesOver: () => {
          logger.info('no deferred DEL has to be tried again any more')
        },
      }),
  )
  const unsettled = new FailureReasons()
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
      if (unsettled.failed(error))
        logger.warn({ err: error }, 'which ADDs were answered could not be settled yet; it is tried again')
      unsettled.endRound()
    },
    onSettled: () => {
      if (unsettled.endRound()) logger.info('which ADDs were answered is settled again')
    },
  })
  const yielding = new YieldAddresses({
    service,
    onCut: ({ network: ofNetwork, containerId, ifname, holder }, { address }) => {
      logger.error(
        { network: ofNetwork, containerId, ifname, holder: describeHolder(holder), address },
        `cut off a sandbox: ${address} was taken over or ended by another node while this one counted as lost`,
      )
    },
    onError: (error, { containerId, ifname }) => {
      logger.error(
        { err: error, containerId, ifname },
        'a sandbox whose addresses another node has could not be cut off, and may answer for them; it is tried again',
      )
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
    falseAnswers,
    onFindings: page.found,
    reconcileSettings: () => watched.current.reconcile,
    nodeRoutes: () => watched.current.nodeRoutes,
  })
  const nodeFacts: NodeFacts = {
    node: here,
    bootId,
    namespaceAt: seeNamespace,
    reachNetns,
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
    disk: kept.status,
    config: () => watched.status(),
    cluster: () => cluster?.status(),
    sharedStore: () => {
      const status = ledger.storeStatus()
      if (!status) return undefined
      const { state, owed, waitsFor = [] } = status
      return {
        ...{ away: state === 'away', incomplete: state === 'incomplete', awaited: waitsFor.length },
        ...{ owed, elected: duties.isElected?.() },
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
    certificateEnds: webhook.certificateEnds,
    busyMs: () => performance.eventLoopUtilization().active,
    ...node.figures,
  })
  const pulse = new FolderPulse(`${stateDir}/daemon.lock`, clock.monotonic)
  const app = await buildApp({
    service,
    facts: {
      ...{ version, startedAt, stateDir, stateFolder: folderInode(stateDir), socket },
      store: { kind: store.kind, location: store.location },
      conflist: config.conflist,
      identity,
      nameProblem: () => claims?.refusal(),
    },
    nodeFacts,
    requests,
    tellPod: (pod, outcome) => cluster?.events.record(pod, outcomeEvent(outcome)),
    askedAgain: invocationId => answers.askedAgain(invocationId),
    cluster: cluster?.view,
    config: () => watched.status(),
    clusterStatus: () => cluster?.status(),
    jumps: () => clock.jumps(),
    deferredDels: () => deferred.count(),
    disk: kept.status,
    stateFolderBeats: () => pulse.beats(),
    uplinks,
    observer,
    minAgeUnproved: () => watched.current.reconcile.minAgeUnproved,
    metrics: () => scraper.page(),
    nodeRoutes: [node.addRoutes],
    logger,
  })
  await uplinks.recover()
  // Before the first ADD: what was deleted while nobody was here must not look as if it were in use.
  await deferred.drain()
  await answers.begin()
  strayLinks.start()
  ledger.subscribe({
    stray: key => {
      void endStray(service, key, error => {
        logger.warn({ err: error, ...key }, 'a deleted attachment that appeared again could not be ended yet')
      })
    },
    unanswered: () => {
      answers.wake()
    },
    takenAway: had => {
      yielding.lost(had)
    },
    servingAgain: () => {
      logger.info('the ledger stands in a new file, and changes are taken again')
      // DELs that came meanwhile wait there.
      void deferred.drain().catch((error: unknown) => {
        logger.warn({ err: error }, 'the queue of deferred DELs could not be drained; it is tried again')
      })
    },
  })
  onAddressLost = had => {
    yielding.lost(had)
  }
  lostEarly.forEach(onAddressLost)
  // Before anything is served: this node may have counted as lost until now.
  await yielding.begin()
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
  links.start()
  // Before the first ADD, which may depend on it that the store was reached.
  await joined?.start()
  const listening = await kept.room.make(socket, () =>
    KeptSocket.open({
      app,
      path: socket,
      onMade: () => {
        logger.warn({ socket }, 'somebody took the socket away; it has been made anew')
      },
      onProblem: ({ code, message, hint }) => {
        logger.error({ code, hint }, `the socket has gone, and cannot be made anew yet: ${message}`)
      },
    }),
  )
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
  kept.start()
  answers.start()
  node.start()
  times.wake()
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
      readyAfterMs: Math.round(clock.monotonic() - startedMonotonic),
    },
    'serving',
  )
  void verifyFile(ledger, logger)
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
  await Promise.all([listening.close(), app.close()])
  await cluster?.stop()
  await deferred.stop()
  await answers.stop()
  await times.stop()
  await strayLinks.stop()
  await yielding.stop()
  await node.stop()
  await claims?.stop()
  await joined?.stop()
  await service.serial.idle()
  await network.idle()
  links.stop()
  await saveFromMemory(ledger, logger)
  await store.close()
  await kept.stop()
  unlockStateDir()
  logger.info('stopped')
}

/** Looks at what was too much for the start. */
async function verifyFile({ file }: Ledger, logger: Logger): Promise<void> {
  try {
    const findings = await file?.verify()
    const fault = file?.fault()
    if (fault) logger.error({ code: fault.code, hint: fault.hint }, fault.message)
    if (findings && findings.length > 0)
      logger.warn(
        { file: file?.path, findings: findings.slice(0, 5), hint: 'ipkeeperctl rescue' },
        `${findings.length} entries of the history are damaged; no lease is concerned`,
      )
  } catch (error) {
    logger.warn({ err: error }, 'the file of the ledger could not be looked at as a whole')
  }
}

/** A daemon whose file is gone, and that is told to end, has the ledger in its memory alone. */
async function saveFromMemory(ledger: Ledger, logger: Logger): Promise<void> {
  const { file } = ledger
  const fault = file?.fault()
  if (!file || !fault || ledger.isSaved) return
  try {
    const { file: saved, kinds } = await ledger.rescue('beside')
    const hint = `if ${file.path} is not what it is to be: put it aside with its -wal, then mv ${shellWord(saved)} ${shellWord(file.path)}; see docs/operations/rescue.md`
    logger.error({ saved, kinds, hint }, `the ledger was saved from memory to ${saved}: ${fault.message}`)
  } catch (error) {
    logger.error({ err: error }, 'the ledger could not be saved from memory')
  }
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

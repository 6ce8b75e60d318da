import { basename } from 'node:path'
import type { LintFinding } from '../../shared/api/lint.schema.ts'
import { ConfDirWatch } from '../conf-dir/conf-dir-watch.ts'
import { readNetworks } from '../conf-dir/read-conf-dir.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import type { AppOptions } from '../http/build-app.ts'
import { auditRoutes } from '../http/routes/audit.ts'
import { cacheRoutes } from '../http/routes/cache.ts'
import { lintRoutes } from '../http/routes/lint.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import { fileEvent, findingEvent } from '../kubernetes/event-texts.ts'
import { leasesForCache } from '../leases/queries/cache-records.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import type { Logger } from '../host/logger.ts'
import type { OptionalParts } from '../host/optional-part.ts'
import type { MetricSources } from '../metrics/metric-sources.ts'
import { deathOf, reachNamespaces } from '../network/pod/attachment-liveness.ts'
import { findLink, listLinks } from '../network/ip-show.ts'
import { podAddresses } from '../network/pod/pod-links.ts'
import { runTool } from '../network/run-tool.ts'
import { removeSeenLink } from '../network/node/link-removal.ts'
import type { FalseAnswers } from '../reconcile/false-answers.ts'
import type { ReconcileSettings } from '../reconcile/plan-settings.ts'
import type { LostLeases } from '../reconcile/node-look.ts'
import type { RefusedConfig } from '../reconcile/plan-snapshot.ts'
import { Reconciler } from '../reconcile/reconciler.ts'
import { CacheKeeper } from '../result-cache/cache-keeper.ts'
import { foldersOf } from '../result-cache/list-cache-files.ts'
import { Quarantine } from '../result-cache/quarantine.ts'
import { readBoot } from '../host/boot.ts'
import { SocketRuntimes } from '../runtime/socket-runtimes.ts'

export interface WatchNodeOptions {
  /** Of the start. */
  readonly config: DaemonConfig
  readonly lostNodes: LostLeases | undefined
  readonly falseAnswers: FalseAnswers
  /** As configured now. */
  readonly reconcileSettings: () => ReconcileSettings
  readonly nodeRoutes: () => DaemonConfig['nodeRoutes']
  readonly service: LeaseService
  readonly stateDir: string
  readonly logger: Logger
  readonly binDirs: readonly string[]
  readonly parts: OptionalParts
  /** undefined where no API is configured. */
  readonly cluster: Cluster | undefined
  /** The comparison of leases and node found something, or has repaired it. */
  readonly onFindings: () => void
  readonly refusedConfig: () => RefusedConfig | undefined
  /** Called with each comparison, for what an idle daemon has to notice by itself. */
  readonly onPass: () => void
  /** What is advised, as it works here. */
  readonly remedy: (text: string) => string
}

/** What looks at the node beside the verbs. */
export interface WatchedNode {
  /** To be called when the daemon serves. */
  readonly start: () => void
  /** Resolves when nothing is looked at or done any more. */
  readonly stop: () => Promise<void>
  readonly addRoutes: NonNullable<AppOptions['nodeRoutes']>[number]
  readonly figures: Pick<MetricSources, 'findings' | 'repairs' | 'badCacheFiles' | 'conflists'>
}

/**
 * Puts together what looks at the node on its own account: network configurations, result caches, and leases against
 * runtimes, namespaces and links.
 */
export function watchNode(options: WatchNodeOptions): WatchedNode {
  const runtimes = new SocketRuntimes(options.config.runtime.sockets, problem => {
    runtime.broke(problem)
  })
  const runtime = options.parts.add({ name: 'runtime', begin: () => runtimes.look() })
  const confDir = watchConfDir(options)
  const caches = keepCaches(options, runtimes)
  const reconciler = reconcileNode(options, { runtimes, confDir, caches })
  return {
    start: () => {
      void runtime.start()
      caches.start()
      void confDir.start()
      reconciler.start()
    },
    stop: async () => {
      await Promise.all([runtime.stop(), caches.stop(), confDir.stop(), reconciler.stop()])
      runtimes.close()
    },
    addRoutes: app => {
      auditRoutes(app, { audit: reconciler, remedy: options.remedy })
      cacheRoutes(app, { caches })
      lintRoutes(app, { currentLint: () => confDir.current() })
    },
    figures: {
      findings: () => Object.fromEntries(reconciler.counts()),
      repairs: () => Object.fromEntries(reconciler.repaired()),
      badCacheFiles: () => {
        const byReason = Map.groupBy(caches.current(), ({ reason }) => reason)
        return Object.fromEntries([...byReason].map(([reason, files]) => [reason, files.length]))
      },
      conflists: () => {
        const { files, findings } = confDir.current()
        const bad = new Set(findings.filter(({ severity }) => severity === 'error').map(({ file }) => file))
        const bySeverity = Map.groupBy(findings, ({ severity }) => severity)
        return {
          files: files.map(({ file }) => ({ name: basename(file), valid: !bad.has(file) })),
          findings: Object.fromEntries([...bySeverity].map(([severity, some]) => [severity, some.length])),
        }
      },
    },
  }
}

/** As Events of the API. */
const tellBy =
  (cluster: Cluster | undefined) =>
  ({ subject, event }: ReturnType<typeof findingEvent>): void => {
    cluster?.events.record(subject, event)
  }

function watchConfDir({
  config,
  binDirs,
  service,
  nodeRoutes,
  logger,
  cluster,
}: WatchNodeOptions): ConfDirWatch {
  const { directory } = config.conflist
  const tell = tellBy(cluster)
  return new ConfDirWatch({
    ...{ directory, binDirs, binDirsNamed: false, maxConfNum: 1 },
    nodeRoutes: () => (service.ledger.isShared ? nodeRoutes() : undefined),
    onChange: (news, gone) => {
      for (const finding of news) {
        logFinding(logger, finding)
        const { severity, file, line, column, message, remedy } = finding
        if (severity === 'error')
          tell(
            fileEvent(service.node, 'BadConflist', {
              message: `${file}:${line}:${column}: ${message}`,
              remedy,
            }),
          )
      }
      const mended = gone.filter(({ severity }) => severity !== 'note').length
      if (mended > 0) logger.info({ mended }, 'findings on network configurations are resolved')
    },
    onUnreadable: error => {
      if (error === undefined)
        logger.info({ directory }, 'the folder of network configurations can be read again')
      else
        logger.info({ directory, err: error }, 'network configurations are not looked at; it is tried again')
    },
  })
}

function keepCaches(
  { config, service, stateDir, logger, cluster, reconcileSettings }: WatchNodeOptions,
  runtimes: SocketRuntimes,
): CacheKeeper {
  const tell = tellBy(cluster)
  return new CacheKeeper({
    terms: {
      ...config.resultCache,
      get orphanAge() {
        return reconcileSettings().minAgeUnproved
      },
    },
    folders: foldersOf(config.resultCache.folders),
    stateDir,
    networks: () => readNetworks(config.conflist.directory),
    boot: readBoot(),
    records: leasesForCache(service),
    quarantine: new Quarantine({ stateDir, bootId: service.bootId, now: service.now }),
    sandboxes: () => runtimes.list(),
    macOf: async link => (await findLink(runTool, link).catch(() => undefined))?.mac,
    now: service.now,
    monotonic: () => performance.now(),
    onFound: ({ path, reason, detail, plan, because }) => {
      logger.warn({ path, reason, detail, plan, because }, 'a bad file in a result cache')
      const message = `${path}: ${reason} (${detail}); ${because}`
      tell(fileEvent(service.node, 'BadCacheFile', { message, remedy: 'see: ipkeeperctl cache scan' }))
    },
    onRepaired: ({ path, reason, containerId, ifname, network }, how) => {
      logger.warn({ path, reason, containerId, ifname, network, ...how }, `a bad file was ${how.done}`)
    },
    onMore: files => {
      logger.warn({ files, hint: 'see: ipkeeperctl cache scan' }, 'more bad files in result caches')
    },
    onError: (error, path) => {
      logger.warn(
        { path, err: error },
        'a result cache could not be looked at or repaired; it is tried again',
      )
    },
  })
}

function reconcileNode(
  options: WatchNodeOptions,
  beside: {
    readonly runtimes: SocketRuntimes
    readonly confDir: ConfDirWatch
    readonly caches: CacheKeeper
  },
): Reconciler {
  const { service, reconcileSettings, lostNodes, falseAnswers, logger, cluster, onFindings } = options
  const { runtimes, confDir, caches } = beside
  const tell = tellBy(cluster)
  return new Reconciler({
    service,
    settings: reconcileSettings,
    death: attachment => deathOf(attachment, service.node, service.bootId),
    reach: reachNamespaces,
    runtimes,
    links: () => listLinks(runTool, ['type', 'veth']),
    removeLink: link => removeSeenLink(runTool, link),
    kernelAddresses: attachment => podAddresses(runTool, attachment),
    pods: cluster && (() => cluster.nodePods()),
    ...(lostNodes && { lostNodes }),
    falseAnswers: () => falseAnswers.list(),
    refusedConfig: options.refusedConfig,
    otherLooks: () => {
      const bad = caches.current().length
      const wrong = confDir.current().findings.filter(({ severity }) => severity === 'error').length
      return [
        { name: 'result caches', state: 'asked', says: `${bad} bad files (ipkeeperctl cache scan)` },
        { name: 'conflists', state: 'asked', says: `${wrong} errors (ipkeeperctl lint)` },
      ]
    },
    onPass: options.onPass,
    onFound: finding => {
      logger[finding.severity === 'note' ? 'info' : 'warn'](finding, `found: ${finding.says}`)
      // The elected daemon tells the IPPool itself.
      if (finding.kind !== 'ippool-refused') tell(findingEvent(finding, service.node))
      onFindings()
    },
    onRepaired: finding => {
      logger.warn(finding, `repaired: ${finding.says}`)
      tell(findingEvent(finding, service.node))
      onFindings()
    },
    onError: error => {
      logger.warn({ err: error }, 'the node could not be compared with the leases; it is tried again')
    },
  })
}

/** One line for what is wrong, or will be, with a network configuration; what is only worth knowing is on demand. */
function logFinding(logger: Logger, finding: LintFinding): void {
  const { file, line, column, severity, rule, message, remedy } = finding
  if (severity === 'note') return
  const level = severity === 'error' ? 'error' : 'warn'
  logger[level]({ file, line, column, rule, hint: remedy }, `${file}:${line}:${column}: ${message}`)
}

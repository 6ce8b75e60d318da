import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DaemonConfig } from '../config/load-config.ts'
import { readPoolSpec } from '../config/read-pool-object.ts'
import { poolEvent } from '../kubernetes/event-texts.ts'
import type { ApiAccess } from '../kubernetes/api-client.ts'
import type { Cluster } from '../kubernetes/cluster.ts'
import { PoolObjects } from '../leases/tasks/join-pool-objects.ts'
import { measureUsage } from '../leases/queries/measure-usage.ts'
import { poolsInUse } from '../leases/queries/pool-use.ts'
import type { HistoryArchive } from '../store/history-archive.ts'
import { HistorySender } from '../leases/tasks/send-history.ts'
import { HistoryPruner } from '../leases/tasks/prune-history.ts'
import { PoolUseSamples } from '../metrics/pool-use-samples.ts'
import { TimeWriter } from '../leases/tasks/write-times.ts'
import type { Logger } from '../host/logger.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import type { OpenedLedger } from './assemble-ledger.ts'
import type { DaemonFrame } from './daemon-frame.ts'
import { openHistoryExport, type OpenHistoryExport } from './open-history-export.ts'
import { openLeaderTasks, type LeaderTasks, type LeaderTasksOptions } from './leader-tasks.ts'
import { type SettingsInForce, wantsNamespaces } from './settings-in-force.ts'

export interface TasksOptions {
  readonly service: LeaseService
  readonly opened: OpenedLedger
  readonly settings: SettingsInForce
  /** undefined where no API is configured. */
  readonly access: ApiAccess | undefined
  readonly cluster: Cluster | undefined
}

export interface AssembledTasks {
  readonly times: TimeWriter
  readonly leaderTasks: LeaderTasks
  readonly pruner: HistoryPruner
  readonly useSamples: PoolUseSamples
  readonly historyExport: OpenHistoryExport
  /** From now on the verbs go by this file, and by the pools of objects that go with it. */
  readonly putInForce: (next: DaemonConfig) => void
}

/** What goes on by itself beside the verbs: times that moved, pools of objects, tasks of a leader, the length of the history. */
export async function assembleTasks(
  frame: DaemonFrame,
  { service, opened, settings, access, cluster }: TasksOptions,
): Promise<AssembledTasks> {
  const { config, watched, logger, stops } = frame
  const { ledger, store, news } = opened
  const times = new TimeWriter(service, error => {
    logger.warn({ err: error }, 'the times until which addresses are kept could not be updated; retrying')
  })
  stops.times.defer(() => times.stop())
  news.onTimesMoved = () => {
    times.wake()
  }
  const historyExport = openHistoryExport(frame, service)
  const poolObjects = new PoolObjects({
    service,
    read: readPoolSpec,
    onChange: () => {
      putInForce(settings.config())
    },
    onNote: (name, text) => {
      if (text === undefined) logger.info({ ippool: name }, `ippool ${name}: its spec is in force again`)
      else logger.warn({ ippool: name }, `ippool ${name}: ${text}`)
    },
  })
  const later = { poolsJoined: (): void => undefined }
  const putInForce = (next: DaemonConfig): void => {
    const pools = poolObjects.join(next)
    settings.put(next, pools)
    historyExport.put(next.history.export)
    later.poolsJoined()
    cluster?.setWatchNamespaces(wantsNamespaces({ ...next, pools }))
  }
  const leaderTasks = await openLeaderTasks({
    ...{ config, service, access, logger, tellPool: poolTeller(logger, cluster) },
    judgePools: () => poolObjects.judge(),
    reconcileSettings: () => watched.current.reconcile,
    cluster: cluster?.view,
    storeKind: store.kind,
  })
  later.poolsJoined = leaderTasks.poolsJoined
  const pruner = pruneHistory(frame, ledger)
  const sender = opened.store.shared?.history && sendHistory(frame, service, opened.store.shared.history)
  sender?.start()
  stops.tasks.defer(() => sender?.stop())
  const useSamples = sampleUse(frame, service)
  stops.tasks.defer(() => leaderTasks.stop())
  stops.tasks.defer(() => {
    pruner.stop()
  })
  stops.tasks.defer(() => {
    poolObjects.stop()
  })
  return { times, leaderTasks, pruner, useSamples, historyExport, putInForce }
}

/** Says what becomes of an IPPool that people made: in the log, and as an event of the object. */
function poolTeller(logger: Logger, cluster: Cluster | undefined): LeaderTasksOptions['tellPool'] {
  return (name, verdict, before) => {
    const { generation, refusal, publish } = verdict
    if (before?.generation === generation && before.refusal?.message === refusal?.message) return
    if (refusal) logger.warn({ ippool: name, generation, ...refusal }, `ippool ${name}: is refused`)
    else if (publish) logger.info({ ippool: name, generation }, `ippool ${name}: is in force on all nodes`)
    // What a daemon that was elected before has told already has nothing to publish.
    if (refusal || publish) {
      const { subject, event } = poolEvent(name, verdict)
      cluster?.events.record(subject, event)
    }
  }
}

/** Keeps the history within its limits. */
function pruneHistory(
  { clock, watched, logger }: DaemonFrame,
  ledger: OpenedLedger['ledger'],
): HistoryPruner {
  return new HistoryPruner({
    ledger,
    limits: () => watched.current.history,
    now: clock.now,
    steadyFor: clock.steadyFor,
    onPruned: entries => {
      logger.info({ entries }, 'the oldest entries of the history were removed')
    },
    onError: error => {
      logger.warn({ err: error }, 'the history could not be pruned; retrying in an hour')
    },
  })
}

/** Sends what this node records to the engine, where all can ask for it. */
function sendHistory(
  { clock, watched, logger }: DaemonFrame,
  service: LeaseService,
  archive: HistoryArchive,
): HistorySender {
  return new HistorySender({
    ledger: service.ledger,
    archive,
    node: () => service.node,
    limits: () => watched.current.history,
    now: clock.now,
    steadyFor: clock.steadyFor,
    newStretch: () => randomBytes(6).toString('hex'),
    onTrouble: error => {
      if (error === undefined) logger.info('the history of this node is sent to the store again')
      else
        logger.warn(
          { err: error },
          'the history of this node cannot be sent to the store; other nodes do not know of it meanwhile',
        )
    },
  })
}

/** Remembers how full the pools were. */
function sampleUse({ clock, stateDir, logger, stops }: DaemonFrame, service: LeaseService): PoolUseSamples {
  const samples = new PoolUseSamples({
    stateDir,
    measure: async () => poolsInUse((await measureUsage(service, () => nextTurn())).rangeSets),
    now: clock.now,
    onError: error => {
      logger.warn({ err: error }, 'the use of pools could not be recorded; retrying in ten minutes')
    },
  })
  stops.tasks.defer(() => samples.stop())
  return samples
}

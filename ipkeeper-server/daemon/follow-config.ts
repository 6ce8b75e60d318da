import { checkConfigLine } from '../../shared/check-config-line.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { shellLine } from '../../shared/text/shell-word.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import type { ConfigHooks } from '../config/watch-config.ts'
import type { ApiAccess } from '../kubernetes/api-client.ts'
import { forgetLeases } from '../leases/tasks/forget-leases.ts'
import { applyPools } from '../leases/verbs/apply-pools.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import type { RefusedConfig } from '../reconcile/plan-snapshot.ts'
import type { OpenedLedger } from './assemble-ledger.ts'
import type { DaemonFrame } from './daemon-frame.ts'
import type { NodeMesh } from './node-mesh.ts'
import { refusedTwice } from './refused-twice.ts'
import { requireApi } from './settings-in-force.ts'
import { failedBy } from '../../shared/system-code.ts'

export interface FollowConfigOptions {
  readonly service: LeaseService
  readonly opened: OpenedLedger
  readonly access: ApiAccess | undefined
  /** As it was named. */
  readonly path: string
  readonly mesh: NodeMesh | undefined
  readonly putInForce: (next: DaemonConfig) => void
  /** Awaited when other pools are in force, and before anybody is served by them at the start. */
  readonly onPools: () => Promise<void>
}

export interface FollowedConfig {
  /** Puts the file in force before anybody is served; what it does not put in force stays as it was in the last run. */
  readonly begin: () => Promise<void>
  /** Puts each change of the file in force from now on. */
  readonly follow: () => void
  /** Ends addresses that were remembered for pools that are gone. */
  readonly forget: () => Promise<void>
}

/** The configuration file of a running daemon: what of it is in force, and what is said where it is not. */
export function followConfig(frame: DaemonFrame, options: FollowConfigOptions): FollowedConfig {
  const { watched, keeper, logger, stops } = frame
  const { service, opened, access, path } = options
  const forget = async (): Promise<void> => {
    await forgetLeases(service).catch((error: unknown) => {
      logger.warn({ err: error }, 'recently released addresses of a former pool could not be deleted')
    })
  }
  let follows = false
  const onApplied = async (): Promise<void> => {
    await options.onPools()
    await forget()
    // Before, the mesh has not begun.
    if (follows) options.mesh?.wake()
  }
  const hooks = hooksOf(frame, options, onApplied)
  stops.configuration.defer(async () => {
    await watched.stop()
    await keeper.stop()
  })
  return {
    begin: async () => {
      const tellStore = storeTeller(frame, options)
      opened.news.onStoreReady = () => {
        tellStore.again(follows)
        // While records were missing it has left all as it was.
        if (follows) options.mesh?.wake()
      }
      if ((await watched.begin(hooks)) === 'applied') return
      try {
        requireApi(watched.current, path, access)
        await tellStore.now()
      } catch (error) {
        throw refusedTwice(watched.problem, error)
      }
    },
    follow: () => {
      follows = true
      watched.watch(hooks)
    },
    forget,
  }
}

function hooksOf(
  { watched, keeper, logger }: DaemonFrame,
  { service, access, path, putInForce }: FollowConfigOptions,
  onApplied: () => Promise<void>,
): ConfigHooks {
  return {
    check: next => {
      requireApi(next, path, access)
    },
    apply: async (next, previous) => {
      try {
        const { added, changed, removed, displaced, notes } = await applyPools(
          service,
          next.pools,
          () => {
            putInForce(next)
          },
          previous.pools,
        )
        logger.info({ added, changed, removed, displaced, notes }, 'configuration reloaded')
      } catch (error) {
        putInForce(previous)
        throw error
      }
      await onApplied()
      logger.level = next.logLevel
    },
    onRules: (config, pools) => {
      putInForce(config)
      if (pools.length > 0)
        logger.warn({ pools }, 'the rules of the refused file restrict who may use these pools, too')
    },
    keep: kept => keeper.keep(kept),
    onProblem: problem => {
      const { path: file, loadedAt } = watched.status()
      logger.error(
        {
          ...{ code: problem.code, details: problem.details, hint: problem.hint },
          ...{ file, inForceSince: new Date(loadedAt).toISOString() },
        },
        `the last good configuration stays in force: ${problem.message}`,
      )
    },
    onUsed: () => {
      logger.info('the configuration file is in force again')
    },
    onUnwatched: (folder, error) => {
      // Most nodes have no such folder; a stack in the log of a first start looks like a fault, and is none.
      const absent = failedBy(error, 'ENOENT')
      logger.info(
        { folder, ...(!absent && { err: error }) },
        absent
          ? 'there is no such folder for a configuration; it is looked for every few seconds'
          : 'the folder of the configuration cannot be watched; it is looked at every few seconds',
      )
    },
  }
}

/** Tells the store of the pools in force, or does so later where it is away; and again where it has lost its records of them. */
function storeTeller(
  { watched, keeper, logger }: DaemonFrame,
  { service, putInForce }: FollowConfigOptions,
): { readonly now: () => Promise<void>; readonly again: (hasTold: boolean) => void } {
  let owed = false
  const tell = async (): Promise<void> => {
    await applyPools(service, watched.current.pools, () => {
      putInForce(watched.current)
    })
    owed = false
    await keeper.keep(watched.kept())
  }
  const isLost = (): boolean =>
    watched.current.pools.some(({ pool }) => service.ledger.pool(pool.name) === undefined)
  const tellAgain = async (hasTold: boolean): Promise<void> => {
    if (watched.problem?.code === 'IPK_STORE_AWAY' && (await watched.reload()) === 'applied') owed = false
    if (owed || (hasTold && isLost())) await tell()
  }
  return {
    now: async () => {
      try {
        await tell()
      } catch (error) {
        if (!(error instanceof Problem) || error.code !== 'IPK_STORE_AWAY') throw error
        owed = true
        logger.warn(
          { err: error },
          'the pools of the configuration are published to the store once it is reachable',
        )
      }
    },
    again: hasTold => {
      tellAgain(hasTold).catch((failure: unknown) => {
        owed = false
        logger.error({ err: failure }, 'the pools of the configuration could not be published to the store')
      })
    },
  }
}

/** The file where it is not what is in force, for the audit. */
export function refusedConfig({ watched, socket }: DaemonFrame): RefusedConfig | undefined {
  const { problem } = watched
  if (!problem) return undefined
  const { path, loadedAt } = watched.status()
  const remedy = shellLine(checkConfigLine(path, socket))
  return { path, message: problem.message, loadedAt, remedy }
}

import { Problem } from '../../shared/problem/problem.ts'
import type { DaemonConfig } from '../config/load-config.ts'
import type { ApiAccess } from '../kubernetes/api-client.ts'
import { forgetLeases } from '../leases/tasks/forget-leases.ts'
import { applyPools } from '../leases/verbs/apply-pools.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import type { OpenedLedger } from './assemble-ledger.ts'
import type { DaemonFrame } from './daemon-frame.ts'
import type { NodeMesh } from './node-mesh.ts'
import { requireApi } from './settings-in-force.ts'

export interface FollowConfigOptions {
  readonly service: LeaseService
  readonly access: ApiAccess | undefined
  /** As it was named. */
  readonly path: string
  readonly mesh: NodeMesh | undefined
  readonly putInForce: (next: DaemonConfig) => void
}

/** Tells the store of the pools of the configuration, or does so later where the store is away. */
export async function putOwnPools(
  { watched, logger }: DaemonFrame,
  { service, putInForce }: Pick<FollowConfigOptions, 'service' | 'putInForce'>,
  { news }: OpenedLedger,
): Promise<void> {
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
    news.onStoreReady = () => {
      news.onStoreReady = () => undefined
      applyOwnPools().catch((failure: unknown) => {
        logger.error({ err: failure }, 'the store could not be told of the pools of the configuration')
      })
    }
  }
}

/** Puts each change of the file in force; `forget` ends addresses that were remembered for pools that are gone. */
export function followConfig(
  { watched, logger, stops }: DaemonFrame,
  { service, access, path, mesh, putInForce }: FollowConfigOptions,
): { readonly forget: () => Promise<void> } {
  const forget = async (): Promise<void> => {
    await forgetLeases(service).catch((error: unknown) => {
      logger.warn({ err: error }, 'addresses that were remembered for a pool of old could not be forgotten')
    })
  }
  watched.watch({
    apply: async (next, previous) => {
      requireApi(next, path, access)
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
      mesh?.wake()
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
  stops.configuration.defer(() => watched.stop())
  return { forget }
}

import { describeDiskFault } from '../../shared/problem/disk-fault.ts'
import type { Problem } from '../../shared/problem/problem.ts'
import type { Logger } from '../host/logger.ts'
import { roomFolder } from '../open-ledger/open-store.ts'
import { SpareDels } from '../reconcile/spare-dels.ts'
import type { DiskStatus } from '../store/lease-store.ts'
import { Room } from '../store/room/room.ts'
import type { StoreSpec } from '../store/store-spec.ts'

export interface KeptRoom {
  readonly room: Room
  readonly spares: SpareDels
  /** undefined where nothing is written to a disk. */
  readonly status: () => DiskStatus | undefined
  /** Why no pod may be added. */
  readonly refusal: () => Problem | undefined
  /** The daemon serves: what is missing is made, and again whenever it is missing and there is room. */
  readonly start: () => void
  /** To be called now and then: somebody who needed room may have taken it away. */
  readonly look: () => void
  readonly stop: () => Promise<void>
}

/**
 * Keeps room on the disk for ending pods: a reserve for the store, and files for DELs that come while the daemon is away.
 */
export function keepRoom(spec: StoreSpec | undefined, stateDir: string, logger: Logger): KeptRoom {
  const usesDisk = spec?.kind !== 'memory'
  const spares = new SpareDels(stateDir, Date.now)
  let isKeeping = false
  const keepSpares = (): void => {
    if (isKeeping) return
    isKeeping = true
    spares
      .keep()
      .catch((error: unknown) => {
        logger.warn(
          { err: error },
          'files for DELs that come on a full disk could not be made; it is tried later',
        )
      })
      .finally(() => {
        isKeeping = false
      })
  }
  const room = new Room({
    folder: roomFolder(spec, stateDir),
    now: Date.now,
    monotonic: () => performance.now(),
    onSpent: ({ message, hint }) => {
      logger.error({ hint }, message)
    },
    onWhole: () => {
      logger.info('there is room on the disk again: pods are added')
      keepSpares()
    },
  })
  return {
    room,
    spares,
    status: () => {
      if (!usesDisk) return undefined
      const { kept, wanted, spent } = room.state()
      const { folder } = room
      const refuses = spent && { reason: describeDiskFault(spent.fault, folder), since: spent.since }
      return { folder, reserved: kept, wanted, refuses }
    },
    refusal: () => (usesDisk ? room.refusal() : undefined),
    start: () => {
      if (usesDisk) void room.keep()
      keepSpares()
    },
    look: () => {
      if (usesDisk) void room.keep()
      // Not at each of them: that takes a system call for every file.
      if (!spares.areThere()) keepSpares()
    },
    stop: () => room.close(),
  }
}

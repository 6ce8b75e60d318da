import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Problem } from '../../../shared/problem/problem.ts'
import { asideCommand } from '../../host/set-aside.ts'
import { isNoDatabase } from './damage.ts'

/**
 * Keeps a state folder for one daemon, whichever store it uses: of two that drain the same queue of DELs, one would end
 * nothing and remove the other's entries. The lock is SQLite's on an empty file, since Node has no other: the kernel
 * lets go of it when the process dies, so it is never stale.
 *
 * @param whenInUse what to do about another daemon that has it
 * @returns lets the folder go
 * @throws Problem IPK_STORE_FAILED: another daemon has the folder, or it cannot be written
 */
export function lockStateFolder(
  stateDir: string,
  whenInUse = 'stop the other ipkeeper-server, or give this one another --state-dir',
): () => void {
  const path = join(stateDir, 'daemon.lock')
  let file: DatabaseSync | undefined
  try {
    file = new DatabaseSync(path)
    file.exec('BEGIN EXCLUSIVE')
    const held = file
    return () => {
      held.close()
    }
  } catch (error) {
    file?.close()
    const text = error instanceof Error ? error.message : String(error)
    if (!/locked|busy/.test(text)) {
      throw new Problem('IPK_STORE_FAILED', `state folder ${stateDir} cannot be locked: ${text}`, {
        cause: error,
        hint: isNoLock(path, error)
          ? `where no other ipkeeper-server runs with it: ${asideCommand(path)}`
          : 'run as root, or choose another --state-dir',
      })
    }
    throw new Problem('IPK_STORE_FAILED', `state folder ${stateDir} is in use by another ipkeeper-server`, {
      cause: error,
      hint: whenInUse,
    })
  }
}

/** Whether something else has the lock's name. Another state folder would be no remedy: it begins without any lease. */
const isNoLock = (path: string, error: unknown): boolean =>
  isNoDatabase(error) || lstatSync(path, { throwIfNoEntry: false })?.isFile() === false

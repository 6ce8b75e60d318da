import { closeSync, constants, openSync, unlinkSync } from 'node:fs'
import { stateFolders } from '../shared/paths.ts'
import { hintOfDisk } from '../shared/problem/disk-fault.ts'
import { Problem } from '../shared/problem/problem.ts'
import { makeStateFolder } from './make-state-folder.ts'
import { systemCode } from '../shared/system-code.ts'

/** Says in a state folder that the run of this name answers its ADD now. */
export type LeaveMark = (stateDir: string, invocationId: string) => void

const { O_WRONLY, O_CREAT, O_EXCL } = constants

/**
 * The last thing before a Result is printed: from here on no daemon undoes the ADD (shared/mark-name.ts). Not synced:
 * after a power cut the pod is gone as well, and with it the question.
 *
 * @throws Problem IPK_ANSWER_UNMARKED: the mark cannot be made, or the daemon has undone the ADD before
 */
export const leaveMark: LeaveMark = (stateDir, invocationId) => {
  const folder = `${stateDir}/${stateFolders.answered}`
  const path = `${folder}/${invocationId}`
  try {
    try {
      makeMark(path)
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error
      makeStateFolder(stateDir)
      makeStateFolder(folder)
      makeMark(path)
    }
  } catch (cause) {
    const code = systemCode(cause)
    const message =
      code === 'EEXIST'
        ? 'ipkeeper-server was restarted and has undone this ADD, because its answer did not come'
        : `that this ADD is answered cannot be noted in ${folder} (${code})`
    const hint = hintOfDisk(cause, stateDir, { limitedBy: 'runtime' })
    throw new Problem('IPK_ANSWER_UNMARKED', message, { cause, ...(hint !== undefined && { hint }) })
  }
}

/** Takes the run's own mark away again, since its Result could not be printed after all; never throws. */
export const withdrawMark: LeaveMark = (stateDir, invocationId) => {
  try {
    unlinkSync(`${stateDir}/${stateFolders.answered}/${invocationId}`)
  } catch {
    // Not made yet, or the daemon's: then it is a folder.
  }
}

function makeMark(path: string): void {
  closeSync(openSync(path, O_WRONLY | O_CREAT | O_EXCL, 0o600))
}

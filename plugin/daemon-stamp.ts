import { closeSync, constants, lstatSync, lutimesSync, openSync } from 'node:fs'
import { stateFiles } from '../shared/paths.ts'

/** Milliseconds that a rollout of the daemon may take before STATUS says so (DESIGN section 11). */
const graceMs = 30_000
/** Milliseconds by which clocks of files and processes may differ. */
const skewMs = 1_000

/** Whether a moment is so short ago that the daemon may just be restarting. One in the future says nothing. */
export function isWithinGrace(answeredAt: number | undefined, now: number): boolean {
  return answeredAt !== undefined && answeredAt >= now - graceMs && answeredAt <= now + skewMs
}

const stampOf = (stateDir: string): string => `${stateDir}/${stateFiles.daemonAnswered}`

/** Remembers in the state folder that the daemon has answered at this moment (milliseconds since the epoch). */
export function stampAnswer(stateDir: string, now: number): void {
  const path = stampOf(stateDir)
  try {
    lutimesSync(path, now / 1000, now / 1000)
  } catch {
    makeEmptyFile(path)
  }
}

function makeEmptyFile(path: string): void {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600))
  } catch {
    // Without the stamp STATUS has no grace, and nothing else changes.
  }
}

/** When the daemon last answered, in milliseconds since the epoch; undefined when that is not known. */
export function readAnswer(stateDir: string): number | undefined {
  try {
    return lstatSync(stampOf(stateDir)).mtimeMs
  } catch {
    return undefined
  }
}

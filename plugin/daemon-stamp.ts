import { closeSync, constants, lstatSync, lutimesSync, openSync } from 'node:fs'
import { stateFiles } from '../shared/paths.ts'

/** Milliseconds that a rollout of the daemon may take before STATUS says so (DESIGN.md, "The way of a STATUS"). */
const graceMs = 30_000
/** Milliseconds by which clocks of files and processes may differ. */
const skewMs = 1_000

/** The present moment, by both clocks of this machine. */
export interface Moment {
  /** Milliseconds since the epoch. */
  readonly wall: number
  /** Milliseconds of CLOCK_MONOTONIC. */
  readonly monotonic: number
  /** Of which boot; undefined when the kernel does not tell. */
  readonly bootId: string | undefined
}

/** Whether the daemon has answered so short a while ago that it may just be restarting. What is to come says nothing. */
export function isWithinGrace(answeredFor: number | undefined): boolean {
  return answeredFor !== undefined && answeredFor <= graceMs && answeredFor >= -skewMs
}

const stampOf = (stateDir: string): string => `${stateDir}/${stateFiles.daemonAnswered}`

/** A number below 100,000 that tells boots apart (FNV-1a). */
function traceOf(bootId: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < bootId.length; index++)
    hash = Math.imul(hash ^ bootId.charCodeAt(index), 0x01000193)
  return (hash >>> 0) % 100_000
}

/**
 * Remembers in the state folder that the daemon has answered at this moment, in the times of an empty file: one system call
 * for each run. The time of change is for people. That of access is CLOCK_MONOTONIC, since the other may be of a clock that
 * is set before anybody asks; behind the seconds it tells of which boot.
 */
export function stampAnswer(stateDir: string, { wall, monotonic, bootId }: Moment): void {
  const path = stampOf(stateDir)
  const accessed =
    bootId === undefined ? wall / 1000 : Math.round(monotonic / 1000) + (traceOf(bootId) + 0.5) / 100_000
  try {
    lutimesSync(path, accessed, wall / 1000)
  } catch {
    try {
      closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600))
      lutimesSync(path, accessed, wall / 1000)
    } catch {
      // Without the stamp STATUS has no grace, and nothing else changes.
    }
  }
}

/**
 * For how many milliseconds, to about a second, the daemon has not answered; undefined when that is not known. By the time of change where that of
 * access is nothing that was written here: others may have touched the file.
 */
export function sinceAnswer(stateDir: string, { wall, monotonic, bootId }: Moment): number | undefined {
  try {
    const { atimeMs, mtimeMs } = lstatSync(stampOf(stateDir))
    const seconds = Math.floor(atimeMs / 1000)
    const trace = Math.floor((atimeMs / 1000 - seconds) * 100_000)
    return bootId !== undefined && trace === traceOf(bootId) ? monotonic - seconds * 1000 : wall - mtimeMs
  } catch {
    return undefined
  }
}

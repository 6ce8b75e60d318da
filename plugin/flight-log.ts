import { closeSync, constants, fstatSync, openSync, readdirSync, unlinkSync, writeSync } from 'node:fs'
import { flightFileName, flightFileNumber } from '../shared/flight-files.ts'
import { stateFolders } from '../shared/paths.ts'
import { makeStateFolder } from './make-state-folder.ts'
import { failedBy } from '../shared/system-code.ts'

export interface FlightLogLimits {
  /** A file of this many bytes is full. */
  readonly fileBytes: number
  /** How many files are kept. */
  readonly files: number
}

const standardLimits: FlightLogLimits = { fileBytes: 1024 * 1024, files: 4 }

/** How many files are tried that others have filled meanwhile, or that are none. */
const tries = 16

/** Adds one line to the flight record of a state folder. Never waits for another process. Throws what the system says. */
export type AppendFlight = (stateDir: string, line: string) => void

/**
 * Any number of plugins may do this at once, without a lock and without a rename: a line is one write to the end of the
 * newest file, and those who find it full open the same next one. Who does that removes what is older than the files to
 * keep. So there are at most 5 MiB: four full files, a fifth until it is removed, and over each of them the lines of
 * those who looked at its size at the same moment. Foreign names are left alone.
 */
export function appendFlight(
  stateDir: string,
  line: string,
  { fileBytes, files }: FlightLogLimits = standardLimits,
): void {
  const folder = `${stateDir}/${stateFolders.flights}`
  const bytes = Buffer.from(`${line}\n`)
  const numbers = listNumbers(stateDir, folder)
  const newest = Math.max(1, ...numbers)
  let number = newest
  while (!appendTo(`${folder}/${flightFileName(number)}`, bytes, fileBytes)) {
    if (++number === newest + tries) return
  }
  if (number === newest) return
  for (const old of numbers) {
    if (old <= number - files) removeIfThere(`${folder}/${flightFileName(old)}`)
  }
}

function listNumbers(stateDir: string, folder: string): number[] {
  try {
    return readdirSync(folder).flatMap(name => flightFileNumber(name) ?? [])
  } catch (error) {
    if (!failedBy(error, 'ENOENT')) throw error
    makeStateFolder(stateDir)
    makeStateFolder(folder)
    return []
  }
}

/** False when the file is full, or none that can be appended to: no pipe is waited for, and no link followed. */
function appendTo(path: string, line: Buffer, fileBytes: number): boolean {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  let file: number
  try {
    file = openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  } catch {
    return false
  }
  try {
    const stats = fstatSync(file)
    if (!stats.isFile() || stats.size >= fileBytes) return false
    writeSync(file, line)
    return true
  } finally {
    closeSync(file)
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Another plugin was quicker.
  }
}

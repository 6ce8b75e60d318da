import { mkdirSync } from 'node:fs'
import { failedBy } from '../shared/system-code.ts'

/** Makes a folder for our own user. One level only: mkdir with "recursive" never returns below /proc. */
export function makeStateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!failedBy(error, 'EEXIST')) throw error
  }
}

import { mkdirSync } from 'node:fs'

/** Makes a folder for our own user. One level only: mkdir with "recursive" never returns below /proc. */
export function makeStateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

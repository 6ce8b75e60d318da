import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atProcessEnd } from './finish.ts'
import type { Scope } from './teardown.ts'

export interface TempFolder {
  readonly path: string
  /** Path of a file in it. */
  file(...names: readonly string[]): string
  remove(): void
}

/**
 * Makes a folder of its own, removed at the latest when the process ends. The path is short: unix sockets go into it,
 * and their paths may have 107 bytes.
 */
export function makeTempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'ipk-'))
  const remove = (): void => {
    withdraw()
    rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
  const withdraw = atProcessEnd(remove)
  return { path, file: (...names) => join(path, ...names), remove }
}

/** A folder of its own, removed when the test ends, after all that is torn down from now on. */
export function tempFolder(t: Scope): TempFolder {
  const folder = makeTempFolder()
  t.teardown(() => {
    folder.remove()
  })
  return folder
}

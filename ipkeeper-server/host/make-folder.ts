import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Whether a path leads to a folder. */
export const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Makes a folder, and those above it, for our own user alone. One level at a time: mkdir with "recursive" never returns
 * where the kernel refuses new folders (below /proc), and says ENOENT where the file system is read-only.
 */
export function makeFolder(path: string): void {
  if (isFolder(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Somebody else may have made it meanwhile: a plugin that queues its DEL while the daemon starts.
    if (!isFolder(path)) throw error
  }
}

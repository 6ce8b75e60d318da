import { constants } from 'node:fs'
import { mkdir, open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Problem } from '../../shared/problem/problem.ts'

/** Begins with a dot and ends as no configuration does: no runtime takes it for a plugin or for a network. */
const freshName = (name: string): string => `.${name}.new-${process.pid}`

async function isThereAlready(path: string, bytes: Uint8Array, mode: number): Promise<boolean> {
  const there = await stat(path).catch(() => undefined)
  if (there?.size !== bytes.length || (there.mode & 0o7777) !== mode) return false
  return (await readFile(path)).equals(bytes)
}

/**
 * Puts a file in place, at once and for good: a runtime that starts or reads it meanwhile gets the old one or the new one,
 * whole, also after a power cut. Nothing is written where it is there already.
 *
 * @returns whether it was written
 * @throws Problem IPK_INSTALL_FAILED
 */
export async function placeFile(folder: string, name: string, bytes: Buffer, mode: number): Promise<boolean> {
  const path = join(folder, name)
  const fresh = join(folder, freshName(name))
  let file: FileHandle | undefined
  try {
    await mkdir(folder, { recursive: true, mode: 0o755 })
    if (await isThereAlready(path, bytes, mode)) return false
    file = await open(fresh, 'w', mode)
    await file.writeFile(bytes)
    // Beyond what the umask leaves.
    await file.chmod(mode)
    await file.sync()
    await file.close()
    file = undefined
    await rename(fresh, path)
    await syncFolder(dirname(path))
    return true
  } catch (error) {
    await file?.close().catch(() => undefined)
    await rm(fresh, { force: true }).catch(() => undefined)
    const why = error instanceof Error ? error.message : String(error)
    throw new Problem('IPK_INSTALL_FAILED', `${path} was not installed: ${why}`, { cause: error })
  }
}

/** Makes renames and removals in a folder survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

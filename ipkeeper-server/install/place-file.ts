import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../../shared/problem/problem.ts'
import { writeDurably } from '../host/durable-file.ts'

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
  try {
    await mkdir(folder, { recursive: true, mode: 0o755 })
    if (await isThereAlready(path, bytes, mode)) return false
    await writeDurably(path, bytes, { temporary: join(folder, freshName(name)), mode })
    return true
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Problem('IPK_INSTALL_FAILED', `${path} was not installed: ${why}`, { cause: error })
  }
}

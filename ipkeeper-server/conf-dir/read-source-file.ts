import { constants, lstatSync, realpathSync, type BigIntStats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { basename, dirname, relative } from 'node:path'
import type { UnreadFile, SourceFile } from '../diagnose/lint/site.ts'
import { systemCode } from '../../shared/system-code.ts'

/** Bytes of a configuration, at most: a thousand times what anybody has. */
export const sizeLimit = 1024 * 1024

/** Where a file has to be for a link to it to be followed. `anywhere`: a person has named it. */
export type LinkPolicy = 'anywhere' | 'same folder'

const fault = (
  why: string,
  stopsRuntime: boolean,
  severity: UnreadFile['severity'] = 'error',
): UnreadFile => ({
  why,
  severity,
  stopsRuntime,
})

/** The same file, and nobody has written to it. */
export function sameState(a: BigIntStats, b: BigIntStats): boolean {
  return (
    a.dev === b.dev &&
    a.ino === b.ino &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  )
}

/** A file as it was read, with what tells whether it has changed since. */
export interface ReadFile {
  readonly bytes: Buffer
  readonly state: BigIntStats
}

/** All bytes of an open file, of which there may be more than its size said; undefined when there are too many. */
async function readAll(file: FileHandle): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(64 * 1024))
    if (bytesRead === 0) return Buffer.concat(chunks, size)
    size += bytesRead
    if (size > sizeLimit) return undefined
    chunks.push(buffer.subarray(0, bytesRead))
  }
}

/**
 * Reads a regular file, which the last part of the path has to be itself: no link is followed, and nothing that is no file
 * can make us wait. What is in the way is returned.
 */
export async function readPlainFile(path: string): Promise<ReadFile | UnreadFile> {
  let file: FileHandle
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ELOOP') return fault('it is a link', false)
    if (code === 'ENXIO') return fault('it is a socket', true)
    if (code === 'EACCES' || code === 'EPERM') return fault(`permission denied (${code}); run as root`, false)
    return fault(code === 'ENOENT' ? 'it is gone' : `it cannot be opened (${code})`, code !== 'ENOENT')
  }
  try {
    const state = await file.stat({ bigint: true })
    if (!state.isFile())
      return fault(
        `it is ${state.isDirectory() ? 'a folder' : state.isFIFO() ? 'a pipe' : 'a device'}, no regular file`,
        true,
      )
    const bytes = state.size > sizeLimit ? undefined : await readAll(file)
    if (!bytes) return fault(`it has more than ${sizeLimit / 1024} KiB`, false)
    if (!sameState(state, await file.stat({ bigint: true })) || BigInt(bytes.length) !== state.size)
      return fault('it changed while it was read; look again', false)
    return { bytes, state }
  } catch (error) {
    return fault(`it cannot be read (${systemCode(error)})`, true)
  } finally {
    await file.close()
  }
}

/** Where a link leads, if there is one and it is to be followed. */
function resolveLink(path: string, policy: LinkPolicy): string | UnreadFile {
  try {
    if (!lstatSync(path).isSymbolicLink()) return path
    const target = realpathSync(path)
    if (policy === 'anywhere') return target
    const folder = realpathSync(dirname(path))
    if (relative(folder, target).startsWith('../'))
      return fault(
        `it is a link out of the folder (to ${target}), which runtimes follow; lint that file itself`,
        false,
        'warning',
      )
    return target
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') return fault('it is a link that leads nowhere, or is gone', true)
    return fault(`it cannot be looked at (${code})`, false)
  }
}

/** The text of bytes as Go would see it; a byte order mark is kept, as it is a mistake. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
}

/** Reads one file for the linter. Never rejects: what is in the way is part of the result. */
export async function readSourceFile(path: string, policy: LinkPolicy): Promise<SourceFile> {
  const name = basename(path)
  const target = resolveLink(path, policy)
  if (typeof target !== 'string') return { path, name, text: undefined, fault: target }
  const read = await readPlainFile(target)
  return 'bytes' in read
    ? { path, name, text: decode(read.bytes) }
    : { path, name, text: undefined, fault: read }
}

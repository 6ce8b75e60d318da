import { constants, type BigIntStats } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import type { CacheReason } from '../../shared/cache-reasons.ts'
import { identityOf, sameIdentity, type FileIdentity } from './file-calls.ts'
import { systemCode } from '../../shared/system-code.ts'

/** Bytes; real ones have a few thousand. */
const sizeLimit = 4 * 1024 * 1024

/** What a look at a path without opening it gives. */
export type Glance =
  | { readonly state: 'file'; readonly identity: FileIdentity; readonly stats: BigIntStats }
  | { readonly state: 'gone' }
  | {
      readonly state: 'odd'
      readonly reason: CacheReason
      readonly detail: string
      readonly stats?: BigIntStats
    }

export type Reading =
  | { readonly state: 'read'; readonly text: string }
  | { readonly state: 'moving' }
  | { readonly state: 'gone' }
  | { readonly state: 'odd'; readonly reason: CacheReason; readonly detail: string }

const kinds: readonly (readonly [is: (stats: BigIntStats) => boolean, detail: string])[] = [
  [stats => stats.isDirectory(), 'a folder'],
  [stats => stats.isFIFO(), 'a pipe'],
  [stats => stats.isSocket(), 'a socket'],
  [stats => stats.isBlockDevice() || stats.isCharacterDevice(), 'a device'],
]

/** Looks, and opens nothing: to open a device may do something, and a pipe may wait for its other end. */
export async function glance(path: Buffer): Promise<Glance> {
  let stats: BigIntStats
  try {
    stats = await lstat(path, { bigint: true })
  } catch (error) {
    const code = systemCode(error)
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { state: 'gone' }
      : { state: 'odd', reason: 'unreadable', detail: code }
  }
  if (stats.isSymbolicLink())
    return { state: 'odd', reason: 'symlink', detail: 'a symbolic link; it is not followed', stats }
  if (!stats.isFile()) {
    const detail = kinds.find(([is]) => is(stats))?.[1] ?? 'no regular file'
    return { state: 'odd', reason: 'not-a-file', detail, stats }
  }
  if (stats.size > BigInt(sizeLimit))
    return { state: 'odd', reason: 'too-large', detail: `${stats.size} bytes; it is not read`, stats }
  return { state: 'file', identity: identityOf(stats), stats }
}

/** The text of a file that was just glanced at, if it is still the same one afterwards. Bytes that are no UTF-8 are replaced. */
export async function readCacheFile(path: Buffer, seen: FileIdentity): Promise<Reading> {
  try {
    // Whatever takes its place in this moment: a link is refused, and a pipe does not wait.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stats = async (): Promise<FileIdentity> => identityOf(await file.stat({ bigint: true }))
      if (!sameIdentity(seen, await stats())) return { state: 'moving' }
      const buffer = Buffer.alloc(Number(seen.size))
      let length = 0
      while (length < buffer.length) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length, length)
        if (bytesRead === 0) break
        length += bytesRead
      }
      if (length < buffer.length || !sameIdentity(seen, await stats())) return { state: 'moving' }
      return { state: 'read', text: buffer.toString() }
    } finally {
      await file.close()
    }
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') return { state: 'gone' }
    return ['ELOOP', 'ENXIO'].includes(code)
      ? { state: 'moving' }
      : { state: 'odd', reason: 'unreadable', detail: code }
  }
}

import { closeSync, fsyncSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import {
  isDiskFault,
  isFileFault,
  type DiskFault,
  type FileFault,
} from '../../../shared/problem/disk-fault.ts'
import { failedBy, systemCode } from '../../../shared/system-code.ts'

/** Primary codes of sqlite.org/rescode.html: what SQLite says of files that cannot be written. */
const sqliteFull = 13
const sqliteRefused = [
  8, // READONLY
  10, // IOERR: a write or sync that failed, with whatever errno
  14, // CANTOPEN
]

/**
 * Which fault of the disk an error comes from, also one that is the cause of another; undefined for any other error.
 * SQLite keeps the errno of a write to itself, but for a full disk: then the disk is asked again.
 */
export function diskFaultOf(error: unknown, folder: string): DiskFault | undefined {
  for (let next = error; next instanceof Error; next = next.cause) {
    const { code, errcode } = next as { readonly code?: unknown; readonly errcode?: unknown }
    if (isDiskFault(code)) return code
    if (typeof errcode !== 'number') continue
    if ((errcode & 0xff) === sqliteFull) return 'ENOSPC'
    return sqliteRefused.includes(errcode & 0xff) ? tryDisk(folder) : undefined
  }
  return undefined
}

/**
 * What is in the way of one file alone, where the disk is not: SQLite says neither.
 *
 * @param limits the text of /proc/self/limits
 */
export function fileFaultOf(
  error: unknown,
  path: string,
  limits = (): string => readFileSync('/proc/self/limits', 'utf8'),
): { readonly fault: FileFault; readonly path: string } | undefined {
  for (let next = error; next instanceof Error; next = next.cause) {
    const {
      code,
      errcode,
      path: named,
    } = next as {
      readonly code?: unknown
      readonly errcode?: unknown
      readonly path?: unknown
    }
    if (isFileFault(code)) return { fault: code, path: typeof named === 'string' ? named : path }
    if (typeof errcode !== 'number' || !sqliteRefused.includes(errcode & 0xff)) continue
    const fault = isImmutable(path) ? 'EPERM' : reachesLimit(path, limits) ? 'EFBIG' : undefined
    return fault && { fault, path }
  }
  return undefined
}

function isImmutable(path: string): boolean {
  try {
    closeSync(openSync(path, 'r+'))
    return false
  } catch (error) {
    return failedBy(error, 'EPERM')
  }
}

/** Bytes that SQLite writes at once: pages and their frames in the log. */
const oneWrite = 64 * 1024

function reachesLimit(path: string, limits: () => string): boolean {
  try {
    const [, most] = /^Max file size +(\d+) /m.exec(limits()) ?? []
    if (most === undefined) return false
    const sizes = [path, `${path}-wal`].map(file => statSync(file, { throwIfNoEntry: false })?.size ?? 0)
    return Math.max(...sizes) + oneWrite > Number(most)
  } catch {
    return false
  }
}

/** Writes a block and takes it away again. */
function tryDisk(folder: string): DiskFault | undefined {
  const path = join(folder, `.probe-${process.pid}`)
  try {
    const file = openSync(path, 'w', 0o600)
    try {
      writeSync(file, Buffer.alloc(4096))
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    return undefined
  } catch (error) {
    const code = systemCode(error)
    return isDiskFault(code) ? code : undefined
  } finally {
    try {
      unlinkSync(path)
    } catch {
      // It could not be made.
    }
  }
}

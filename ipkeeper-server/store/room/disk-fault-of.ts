import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isDiskFault, type DiskFault } from '../../../shared/problem/disk-fault.ts'

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
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return isDiskFault(code) ? code : undefined
  } finally {
    try {
      unlinkSync(path)
    } catch {
      // It could not be made.
    }
  }
}

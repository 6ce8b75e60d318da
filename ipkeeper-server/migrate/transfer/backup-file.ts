import { closeSync, createReadStream, createWriteStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { Problem } from '../../../shared/problem/problem.ts'
import { renameDurably } from '../../host/durable-file.ts'
import { openRegularFile } from '../../host/regular-file.ts'
import { readBackup, type Backup } from './backup-lines.ts'
import { systemCode } from '../../../shared/system-code.ts'

/**
 * Writes a backup, compressed, under another name, and gives it its own only when it is whole, read back and on the disk: what
 * was there under that name stays until then. It is streamed, so that writeDurably of host/durable-file.ts is not for it.
 *
 * @throws IPK_BACKUP_INVALID, or what `parts` throws; then there is no new file
 */
export async function writeBackupFile(path: string, parts: AsyncIterable<string>): Promise<Backup> {
  const unfinished = `${path}.unfinished`
  try {
    const out = createWriteStream(unfinished, { mode: 0o600, flush: true })
    await pipeline(Readable.from(parts), createGzip(), out)
    const backup = await readBackupFile(unfinished)
    await renameDurably(unfinished, path)
    return backup
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined)
    if (error instanceof Problem) throw error
    throw new Problem('IPK_BACKUP_INVALID', `${path} cannot be written (${systemCode(error)})`, {
      cause: error,
      hint:
        systemCode(error) === 'ENOENT'
          ? `there is no folder ${dirname(path)}: make it, or name another file`
          : 'free space on that disk, or name another file',
    })
  }
}

/** Reads a backup, compressed or not, and compares it with its digests. Throws IPK_BACKUP_INVALID. */
export async function readBackupFile(path: string): Promise<Backup> {
  const failed = (error: unknown): Problem => {
    if (error instanceof Problem) return error
    const code = systemCode(error)
    // zlib's word for a stream that ends too early.
    const why = code === 'Z_BUF_ERROR' ? 'it is cut off' : code
    return new Problem('IPK_BACKUP_INVALID', `${path} cannot be read (${why})`, {
      cause: error,
      ...(code === 'ENOENT' && { hint: 'there is no such file: name another one' }),
    })
  }
  try {
    // Nothing but a file: of a pipe nobody could look at the beginning first.
    closeSync(openRegularFile(path, { most: Infinity }))
    const packed = await isCompressed(path)
    const bytes = createReadStream(path)
    const text = new PassThrough()
    const flow = packed ? pipeline(bytes, createGunzip(), text) : pipeline(bytes, text)
    // A fault of the compression ends the lines as well, and says more than they can.
    const [flowed, read] = await Promise.allSettled([
      flow,
      readBackup(createInterface({ input: text, crlfDelay: Infinity }), path).finally(() => {
        text.resume()
      }),
    ])
    if (flowed.status === 'rejected') throw flowed.reason
    if (read.status === 'rejected') throw read.reason
    return read.value
  } catch (error) {
    throw failed(error)
  }
}

async function isCompressed(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return buffer[0] === 0x1f && buffer[1] === 0x8b
  } finally {
    await file.close()
  }
}

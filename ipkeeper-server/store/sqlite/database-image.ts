import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { walFrames, type WalFrame } from './wal-frames.ts'

/** Where the header of a database says what (sqlite.org/fileformat2.html, 1.3). */
const header = { pageSize: 16, writeVersion: 18, readVersion: 19, changes: 24, pages: 28, pagesValidFor: 92 }

const usualPageSize = 4096

/** Bytes of a page, as far as the header can be believed. */
export function pageSizeOf(database: Buffer): number {
  if (database.length < 100) return usualPageSize
  const size = database.readUInt16BE(header.pageSize)
  const bytes = size === 1 ? 65_536 : size
  return bytes >= 512 && (bytes & (bytes - 1)) === 0 ? bytes : usualPageSize
}

/** All pages of a database, one after the other. */
export interface DatabaseImage {
  readonly bytes: Buffer
  readonly pageSize: number
}

/**
 * A database as it would be with some frames of its log: the files stay as they are, whatever is wrong with them.
 *
 * @param wanted which frames of the log; of two of one page the later one counts
 */
export function databaseImage(
  path: string,
  log: Buffer | undefined,
  wanted: (frame: WalFrame) => boolean,
): DatabaseImage {
  const file = readFileSync(path)
  const pageSize = pageSizeOf(file)
  const pages = new Map<number, Buffer>()
  for (const frame of log ? walFrames(log, pageSize) : [])
    if (frame.page > 0 && frame.content.length === pageSize && wanted(frame))
      pages.set(frame.page, frame.content)
  const present = Math.floor(file.length / pageSize)
  // A file that is shorter than its first page is SQLite's to judge, too.
  let count = Math.max(1, present)
  // A page number that nobody can believe must not make an image of its size.
  for (const page of pages.keys()) if (page <= present + pages.size) count = Math.max(count, page)
  const image = Buffer.alloc(count * pageSize)
  file.copy(image)
  for (const [page, content] of pages) if (page <= count) content.copy(image, (page - 1) * pageSize)
  if (image.length >= 100) {
    // Of a database without a log, of the size that it has.
    image[header.writeVersion] = image[header.readVersion] = 1
    image.writeUInt32BE(count, header.pages)
    image.writeUInt32BE(image.readUInt32BE(header.changes), header.pagesValidFor)
  }
  return { bytes: image, pageSize }
}

/**
 * Opens it in memory.
 *
 * @throws what SQLite throws for what is no database at all
 */
export function openImage({ bytes }: DatabaseImage): DatabaseSync {
  const database = new DatabaseSync(':memory:')
  try {
    database.deserialize(bytes)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

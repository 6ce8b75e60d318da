import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

/** What stands at a path where a file is meant, or why the file is not read. `code` is for messages, as a system's is. */
export class UnreadableFile extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.name = 'UnreadableFile'
    this.code = code
  }
}

/** A pipe or a device is opened without waiting for its other end, and becomes nobody's terminal. */
const withoutWaiting = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
const pieceSize = 64 * 1024

export interface ReadingTerms {
  /** Bytes that a file may have. */
  readonly most: number
  /** Where it may have more, only the first ones are read; else that is an error. */
  readonly cut?: true
  /** A link in its place is an error (ELOOP). */
  readonly noLink?: true
}

const flagsOf = ({ noLink }: ReadingTerms): number =>
  noLink ? withoutWaiting | constants.O_NOFOLLOW : withoutWaiting

function check(stats: Stats, { most, cut }: ReadingTerms): void {
  if (stats.isDirectory()) throw new UnreadableFile('EISDIR')
  if (!stats.isFile()) throw new UnreadableFile(`${kindOf(stats)}, no regular file`)
  if (stats.size > most && !cut) throw tooLong(most)
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return 'a pipe'
  return stats.isSocket() ? 'a socket' : 'a device'
}

const tooLong = (most: number): UnreadableFile => new UnreadableFile(`larger than ${most} bytes`)

/** What was read is as long as it is now, whatever its size said: files of /proc and /sys say 0. */
function piecesRead(pieces: readonly Buffer[], length: number, { most, cut }: ReadingTerms): Buffer {
  if (length > most && !cut) throw tooLong(most)
  return Buffer.concat(pieces, Math.min(length, most))
}

/**
 * Opens a regular file, and nothing else in its place; to be closed by the caller.
 *
 * @throws UnreadableFile, or the system's error
 */
export function openRegularFile(path: string, terms: ReadingTerms): number {
  const file = openSync(path, flagsOf(terms))
  try {
    check(fstatSync(file), terms)
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/**
 * Reads a regular file whole. For paths of configurations and folders that are root's: a file system that hangs is waited
 * for, and the event loop with it. What a request names goes by `readRegularFile`, in bounded-looks.ts.
 *
 * @throws UnreadableFile, or the system's error
 */
export function readRegularFileSync(path: string, terms: ReadingTerms): Buffer {
  const file = openRegularFile(path, terms)
  try {
    const pieces: Buffer[] = []
    let length = 0
    for (let read = -1; read !== 0 && length <= terms.most; length += read) {
      const piece = Buffer.allocUnsafe(pieceSize)
      read = readSync(file, piece)
      pieces.push(piece.subarray(0, read))
    }
    return piecesRead(pieces, length, terms)
  } finally {
    closeSync(file)
  }
}

/** The same in the thread pool. Rejects with UnreadableFile, or the system's error. */
export async function readRegularFile(path: string, terms: ReadingTerms): Promise<Buffer> {
  const file: FileHandle = await open(path, flagsOf(terms))
  try {
    check(await file.stat(), terms)
    const pieces: Buffer[] = []
    let length = 0
    for (let read = -1; read !== 0 && length <= terms.most; length += read) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(pieceSize))
      read = bytesRead
      pieces.push(buffer.subarray(0, read))
    }
    return piecesRead(pieces, length, terms)
  } finally {
    await file.close()
  }
}

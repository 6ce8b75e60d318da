import { randomFillSync } from 'node:crypto'
import { readdirSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { syncSync, writeDurably } from '../../host/durable-file.ts'
import { freeRoom } from '../../host/free-room.ts'
import { makeFolder } from '../../host/make-folder.ts'

/** Bytes of a piece: what a handful of DELs writes. Each is a file, since a file system may have run out of those. */
const pieceBytes = 256 * 1024
const mostPieces = 16
/** Of a small file system the reserve is no more than this part, and has to leave half as much free when it is made. */
const shareOfDisk = 1 / 8
/** Bytes that have to be free beside it when it is made. */
const mostSpare = 2 * 1024 * 1024
/** Files that have to be free beside it. */
const spareFiles = 32
/** With less than this the next ADD would fail half-way. */
const leastBytes = 128 * 1024
const leastFiles = 8
/** Of a small file system so much less. */
const leastShare = 1 / 64

/** How much there is, and how much there is to be, in bytes. */
export interface ReserveState {
  readonly kept: number
  readonly wanted: number
}

const isPiece = (name: string): boolean => /^\d{2}$/.test(name)

/**
 * Room on a disk that is kept by files which are really written, in a folder of their own. A piece that is given up is room
 * for whoever writes next.
 */
export class Reserve {
  readonly #folder: string
  readonly #around: string
  #pieces: Set<string>

  /** @param around the folder whose file system is meant; it has to be there */
  constructor(around: string) {
    this.#around = around
    this.#folder = join(around, 'reserve')
    this.#pieces = new Set(this.#found())
  }

  state(): ReserveState {
    return { kept: this.#pieces.size * pieceBytes, wanted: this.#wanted() * pieceBytes }
  }

  get isWhole(): boolean {
    return this.#pieces.size >= this.#wanted()
  }

  /** Whether next to nothing can be written any more; two microseconds. False where the disk cannot be looked at. */
  get isDiskFull(): boolean {
    try {
      const { bytes, files, totalBytes, totalFiles } = freeRoom(this.#around)
      const isFull = bytes < Math.min(leastBytes, totalBytes * leastShare)
      return isFull || files < Math.min(leastFiles, totalFiles * leastShare)
    } catch {
      return false
    }
  }

  /** Whether so much can be written that it is worth while to go on. */
  get hasSpare(): boolean {
    try {
      return this.#hasRoom()
    } catch {
      return false
    }
  }

  /** Gives one piece up, at once. False when there is none left. */
  giveUp(): boolean {
    for (const name of this.#pieces) {
      this.#pieces.delete(name)
      try {
        unlinkSync(join(this.#folder, name))
        // Blocks of a removed file are nobody's until the file system's journal has it.
        syncSync(this.#folder)
        return true
      } catch {
        // Somebody else took it away: the next one.
      }
    }
    return false
  }

  /**
   * Makes what is missing, where there is enough room for it. What there is, is looked at anew: somebody who needed room may have
   * removed it.
   *
   * @returns whether it is whole
   * @throws what the system says
   */
  async refill(): Promise<boolean> {
    this.#pieces = new Set(this.#found())
    const wanted = this.#wanted()
    if (this.#pieces.size >= wanted) return true
    if (!this.#hasRoom()) return false
    makeFolder(this.#folder)
    // Nothing that a file system could leave out or put away smaller.
    const bytes = randomFillSync(Buffer.alloc(pieceBytes))
    for (let number = 0; number < mostPieces && this.#pieces.size < wanted; number++) {
      const name = String(number).padStart(2, '0')
      if (this.#pieces.has(name)) continue
      await this.#make(name, bytes)
      this.#pieces.add(name)
    }
    return this.isWhole
  }

  async #make(name: string, bytes: Buffer): Promise<void> {
    const unfinished = join(this.#folder, `${name}.unfinished`)
    await writeDurably(join(this.#folder, name), bytes, { temporary: unfinished, mode: 0o600 })
  }

  /** What there is, where the disk cannot be looked at. */
  #wanted(): number {
    try {
      const { totalBytes } = freeRoom(this.#around)
      return Math.min(mostPieces, Math.floor((totalBytes * shareOfDisk) / pieceBytes))
    } catch {
      return this.#pieces.size
    }
  }

  #hasRoom(): boolean {
    const { bytes, files, totalBytes } = freeRoom(this.#around)
    const missing = this.#wanted() - this.#pieces.size
    const spare = Math.min(mostSpare, (totalBytes * shareOfDisk) / 2)
    return bytes >= missing * pieceBytes + spare && files >= missing + spareFiles
  }

  #found(): readonly string[] {
    try {
      return readdirSync(this.#folder).filter(
        name => isPiece(name) && statSync(join(this.#folder, name)).size === pieceBytes,
      )
    } catch {
      return []
    }
  }
}

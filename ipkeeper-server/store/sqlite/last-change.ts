import { closeSync, constants, fstatSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { readRegularFileSync } from '../../host/regular-file.ts'
import type { Seal } from './seal.ts'

/** What was acknowledged last. */
export interface LastChange {
  /** Boot in which it was written: as long as it lasts, nothing that was synced can be missing but by damage. */
  readonly boot: string
  /** The ledger as it was after it. */
  readonly seal: Seal
  /** Attachments there were then. */
  readonly attachments: number
  /** The writes themselves as JSON, to be made once more if the log lost them; null where they were too many. */
  readonly writes: string | null
}

/** Bytes; the changes of one turn that are longer are not kept. */
const longestWrites = 256 * 1024
const longestFile = 2 * longestWrites

const mark = 'ipkeeper last change 1'

/** Beside the database, under a name that does not begin with that of the database: it is to be found when that is gone. */
export const lastChangePath = (database: string): string =>
  join(dirname(database), `last-change.${basename(database)}`)

interface Written extends Omit<LastChange, 'writes'> {
  /** "DEV:INO" of this file: of a copied folder it says nothing. */
  readonly file: string
  readonly length: number
  readonly sum: number
}

/**
 * Says beside a ledger what was acknowledged last, and is written after each commit, without waiting for the disk. A killed
 * process loses nothing of it; after a power cut it may be older than the ledger, never newer. So what it has and the ledger has not
 * was lost: the log was removed or cut, or a bit of its last transaction flipped, which the log alone cannot tell from a
 * transaction that a power cut interrupted.
 */
export class LastChangeFile {
  readonly #path: string
  #descriptor: number | undefined
  #identity = ''

  constructor(database: string) {
    this.#path = lastChangePath(database)
  }

  /** Never throws: it is a second look, and the ledger is as durable without it. */
  write(change: Omit<LastChange, 'writes'>, writes: string): void {
    try {
      this.#descriptor ??= this.#open()
      const kept = Buffer.from(writes.length > longestWrites ? '' : writes)
      const head: Written = { ...change, file: this.#identity, length: kept.length, sum: crc32(kept) }
      const line = JSON.stringify(head)
      const bytes = Buffer.concat([Buffer.from(`${mark} ${crc32(line)} ${line}\n`), kept])
      writeSync(this.#descriptor, bytes, 0, bytes.length, 0)
    } catch {
      this.close()
    }
  }

  /** Makes it anew if it is gone. */
  keep(): void {
    if (this.#descriptor === undefined) return
    const stats = statSync(this.#path, { throwIfNoEntry: false })
    if (!stats || `${stats.dev}:${stats.ino}` !== this.#identity) this.close()
  }

  close(): void {
    if (this.#descriptor === undefined) return
    try {
      closeSync(this.#descriptor)
    } catch {
      // What could not be written was not waited for either.
    }
    this.#descriptor = undefined
  }

  #open(): number {
    const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants
    const descriptor = openSync(this.#path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
    const { dev, ino } = fstatSync(descriptor)
    this.#identity = `${dev}:${ino}`
    return descriptor
  }
}

/** Of the running kernel. */
export function bootOfKernel(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/** undefined: there is none, or it is not whole, or of another folder. */
export function readLastChange(database: string): LastChange | undefined {
  try {
    const path = lastChangePath(database)
    const { dev, ino } = statSync(path)
    const bytes = readRegularFileSync(path, { most: longestFile })
    const end = bytes.indexOf('\n')
    const [, sum, line = ''] = new RegExp(`^${mark} (\\d+) (.*)$`).exec(bytes.toString('utf8', 0, end)) ?? []
    if (Number(sum) !== crc32(line)) return undefined
    const { boot, seal, attachments, file, length, sum: sumOfWrites } = JSON.parse(line) as Written
    if (file !== `${dev}:${ino}`) return undefined
    const writes = bytes.subarray(end + 1, end + 1 + length)
    const whole = length > 0 && crc32(writes) === sumOfWrites
    return { boot, seal, attachments, writes: whole ? writes.toString() : null }
  } catch {
    return undefined
  }
}

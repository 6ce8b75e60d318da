/**
 * What a write-ahead log of SQLite says of itself, before SQLite opens it (sqlite.org/fileformat2.html, "WAL File Format").
 *
 * SQLite reads frames up to the first one that does not fit, and takes what is behind for left over. So one flipped bit would end
 * the log there without a word, and all later commits would be lost. Each frame has a checksum that begins with that of the frame
 * before it; so frames behind a bad one can be verified one by one, from the checksum that stands in the one before.
 *
 * What a power cut can leave. Every commit is synced before the next one begins to be written (synchronous=FULL, for each and
 * every transaction of ours), so at any moment at most one transaction is on its way to the disk, and it was never acknowledged.
 * Of its sectors any may have arrived and any not, in any order; what did not arrive is as it was before: beyond the end of the
 * file, zeros, or a frame of an earlier generation, which has other salts. Frames of the same generation that were overwritten are
 * not among it, since opening a ledger always empties its log. The header is synced before the first frame is written, and lies in
 * one sector. Only the last frame of a transaction says that it commits. Hence:
 *
 * - possible: behind the last sound commit, any mixture of good and bad frames in which at most the last one commits;
 * - a proof of damage: anything good behind a frame that commits and stands behind the first bad one, because that commit was
 *   synced before; and a header that is not sound before frames that are.
 *
 * A bad frame in the last transaction of the log can be either: last-change.ts tells.
 */

const headerSize = 32
const frameHeaderSize = 24
/** What a disk writes as a whole, at the least. */
const sector = 512
const magicLittle = 0x377f0682
const magicBig = 0x377f0683
const formatVersion = 3_007_000

/** Of a log that is there. */
export type WalVerdict =
  | { readonly state: 'empty' }
  | {
      /** torn: behind the last sound commit is a part of a transaction. */
      readonly state: 'whole' | 'torn'
      /** Up to the last sound commit. */
      readonly frames: number
      readonly commits: number
      /** Pages of the database as of that commit; 0: there is none. */
      readonly pages: number
    }
  | {
      readonly state: 'damaged'
      /** One line: where, and how one knows. */
      readonly why: string
    }

/** Two 32-bit numbers. */
type Sum = readonly [number, number]

const sameSum = (a: Sum, b: Sum): boolean => a[0] === b[0] && a[1] === b[1]

/** A frame as it stands in the file. */
export interface WalFrame {
  /** Of the file, in bytes. */
  readonly offset: number
  readonly page: number
  /** Pages of the database after the commit that this frame ends; 0: it ends none. */
  readonly commits: number
  /** Whether it belongs to the generation of the log: both salts, one of them, none. */
  readonly salts: 'both' | 'one' | 'none'
  /** Its checksum fits the one before it. */
  readonly verified: boolean
  /** So do those of all frames before. */
  readonly chained: boolean
  readonly content: Buffer
}

export interface WalLook {
  readonly verdict: WalVerdict
  readonly pageSize: number
}

/** The words of a range, as the log counts them, into a running sum. */
function sumOver(bytes: Buffer, from: number, length: number, [first, second]: Sum, big: boolean): Sum {
  let a = first
  let b = second
  const view = new DataView(bytes.buffer, bytes.byteOffset + from, length)
  for (let at = 0; at < length; at += 8) {
    a = (a + view.getUint32(at, !big) + b) | 0
    b = (b + view.getUint32(at + 4, !big) + a) | 0
  }
  return [a >>> 0, b >>> 0]
}

interface Header {
  readonly sound: boolean
  readonly big: boolean
  readonly pageSize: number
  readonly salts: Sum
  /** From which the first frame's begins: as it stands there, and as it would have to. */
  readonly sums: readonly Sum[]
}

const isPageSize = (size: number): boolean => size >= 512 && size <= 65_536 && (size & (size - 1)) === 0

/** @param usualPageSize of the database, for a header that does not tell */
function readHeader(bytes: Buffer, usualPageSize: number): Header {
  const word = (index: number): number => bytes.readUInt32BE(index * 4)
  const magic = word(0)
  const big = magic === magicBig
  const stands: Sum = [word(6), word(7)]
  const would = sumOver(bytes, 0, 24, [0, 0], big)
  const sound =
    (magic === magicLittle || big) &&
    word(1) === formatVersion &&
    isPageSize(word(2)) &&
    sameSum(stands, would)
  return {
    sound,
    big,
    pageSize: sound ? word(2) : usualPageSize,
    salts: [word(4), word(5)],
    sums: sound ? [stands] : [stands, would, sumOver(bytes, 0, 24, [0, 0], !big)],
  }
}

/** All frames of a log, in their order; those of earlier generations as well. */
export function* walFrames(bytes: Buffer, usualPageSize = 4096): Generator<WalFrame> {
  if (bytes.length < headerSize) return
  const { sound, big, pageSize, salts, sums } = readHeader(bytes, usualPageSize)
  let seeds = sums
  let chained = sound
  let orders = sound ? [big] : [big, !big]
  const size = frameHeaderSize + pageSize
  for (let offset = headerSize; offset + size <= bytes.length; offset += size) {
    const word = (index: number): number => bytes.readUInt32BE(offset + index * 4)
    const stands: Sum = [word(4), word(5)]
    const equal = Number(word(2) === salts[0]) + Number(word(3) === salts[1])
    const ofGeneration = equal === 2 ? 'both' : equal === 1 ? 'one' : 'none'
    const sumFrom = (seed: Sum, big: boolean): Sum =>
      sumOver(bytes, offset + frameHeaderSize, pageSize, sumOver(bytes, offset, 8, seed, big), big)
    let verified = false
    let would: Sum | undefined
    // What is left over of an earlier generation is no part of this log, whatever it says.
    if (ofGeneration !== 'none' || !sound) {
      // A header that is not sound leaves the order of bytes open.
      for (const [seed, order_] of seeds.flatMap(seed => orders.map(order_ => [seed, order_] as const))) {
        if (verified) break
        const sum = sumFrom(seed, order_)
        would ??= sum
        verified = sameSum(sum, stands)
        if (verified) orders = [order_]
      }
    }
    verified &&= word(0) > 0
    chained &&= verified && ofGeneration === 'both'
    yield {
      offset,
      page: word(0),
      commits: word(1),
      salts: ofGeneration,
      verified,
      chained,
      content: bytes.subarray(offset + frameHeaderSize, offset + size),
    }
    seeds = verified || !would ? [stands] : [stands, would]
  }
}

/** Whether the fields that tell a commit of this generation came to the disk together, or not at all. */
const toldTogether = (offset: number): boolean => (offset % sector) + 16 <= sector

const isZero = (bytes: Buffer): boolean => bytes.every(byte => byte === 0)

/** @param bytes the whole file */
export function judgeWal(bytes: Buffer, usualPageSize = 4096): WalVerdict {
  // Less than a header: the file was made, and nothing was synced.
  if (bytes.length < headerSize || isZero(bytes)) return { state: 'empty' }
  const header = readHeader(bytes, usualPageSize)
  let frames = 0
  let commits = 0
  let pages = 0
  let seen = 0
  let behind = 0
  let firstBad: number | undefined
  /** A frame behind the first bad one that ends a transaction. */
  let committed = false
  for (const frame of walFrames(bytes, usualPageSize)) {
    seen++
    if (header.sound && frame.chained) {
      if (frame.commits === 0) continue
      ;[frames, pages] = [seen, frame.commits]
      commits++
      continue
    }
    if (!header.sound && frame.verified) return unsound(bytes, seen)
    firstBad ??= seen
    // A flipped bit can be in a salt, too; what is left over has neither of them.
    if (frame.salts === 'none') continue
    if (frame.verified && committed) behind++
    if (frame.commits > 0 && (frame.verified || toldTogether(frame.offset))) committed = true
  }
  if (!header.sound) return unsound(bytes, 0)
  if (behind > 0 && firstBad !== undefined) {
    const offset = headerSize + (firstBad - 1) * (frameHeaderSize + header.pageSize)
    const what = `frame ${firstBad} of ${seen}, at byte ${offset}, does not match its checksum`
    return { state: 'damaged', why: `${what}, and later commits stand behind it` }
  }
  const end = headerSize + frames * (frameHeaderSize + header.pageSize)
  const torn = !isLeftOver(bytes.subarray(end), header)
  return { state: torn ? 'torn' : 'whole', frames, commits, pages }
}

function unsound(bytes: Buffer, frame: number): WalVerdict {
  const what = 'its header is not as SQLite writes it'
  return {
    state: 'damaged',
    why: frame > 0 ? `${what}, and frames stand behind it` : `${what} (${bytes.length} bytes)`,
  }
}

/** Whether nothing of this generation stands there. */
function isLeftOver(bytes: Buffer, { pageSize, salts }: Header): boolean {
  for (let offset = 0; offset < bytes.length; offset += frameHeaderSize + pageSize) {
    const frame = bytes.subarray(offset, offset + frameHeaderSize)
    if (frame.length < 16) return isZero(frame)
    const [first, second] = [frame.readUInt32BE(8), frame.readUInt32BE(12)]
    if (first === salts[0] || second === salts[1]) return false
  }
  return true
}

import { closeSync, readSync } from 'node:fs'
import { openRegularFile } from '../../host/regular-file.ts'

/** Of elf(5), 64 bits, little-endian. */
const interpreterSegment = 3
const mostSegments = 64

/**
 * The loader that an executable names (PT_INTERP), such as /lib64/ld-linux-x86-64.so.2; undefined for a static one, for
 * what is no 64-bit ELF file, and where it cannot be read.
 */
export function loaderOf(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openRegularFile(path, { most: Infinity })
    const read = (at: number, length: number): Buffer => {
      const bytes = Buffer.alloc(length)
      return bytes.subarray(0, readSync(file ?? -1, bytes, 0, length, at))
    }
    const header = read(0, 64)
    if (header.readUInt32BE(0) !== 0x7f454c46 || header[4] !== 2 || header[5] !== 1) return undefined
    const [start, size, count] = [
      header.readBigUInt64LE(32),
      header.readUInt16LE(54),
      header.readUInt16LE(56),
    ]
    for (let index = 0; index < Math.min(count, mostSegments); index++) {
      const segment = read(Number(start) + index * size, size)
      if (segment.readUInt32LE(0) !== interpreterSegment) continue
      const text = read(
        Number(segment.readBigUInt64LE(8)),
        Math.min(Number(segment.readBigUInt64LE(32)), 4096),
      )
      return text.toString().replace(/\0.*$/s, '')
    }
    return undefined
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

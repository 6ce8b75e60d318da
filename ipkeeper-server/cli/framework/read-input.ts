import { closeSync, readSync } from 'node:fs'
import { openRegularFile, UnreadableFile } from '../../host/regular-file.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { systemCode } from '../../../shared/system-code.ts'

/** Bytes of a file that people write, at most. */
const usualMost = 1024 * 1024

function failure(name: string, why: string): Problem {
  return new Problem('IPK_REQUEST_INVALID', `${name} ${why}`, { hint: 'name another file' })
}

/** All bytes of a descriptor; undefined when there are more than `most`. */
function readAll(descriptor: number, most: number): Buffer | undefined {
  const chunks: Buffer[] = []
  let size = 0
  for (;;) {
    const chunk = Buffer.alloc(64 * 1024)
    const read = readSome(descriptor, chunk)
    if (read === 0) return Buffer.concat(chunks, size)
    size += read
    if (size > most) return undefined
    chunks.push(chunk.subarray(0, read))
  }
}

/**
 * The text of a regular file that a person names, of at most 1 MiB; "-" is standard input.
 *
 * @param most bytes, of a file that a program has written
 * @throws Problem IPK_REQUEST_INVALID
 */
export function readTextFile(path: string, most = usualMost): string {
  const stdin = path === '-'
  const name = stdin ? 'standard input' : path
  let bytes: Buffer | undefined
  let descriptor: number | undefined
  try {
    descriptor = stdin ? 0 : openRegularFile(path, { most: Infinity })
    bytes = readAll(descriptor, most)
  } catch (error) {
    if (error instanceof UnreadableFile) throw failure(name, 'is not a regular file')
    const code = systemCode(error)
    throw failure(name, `cannot be read (${code})`)
  } finally {
    if (descriptor !== undefined && !stdin) closeSync(descriptor)
  }
  if (!bytes) throw failure(name, `is larger than ${most / 1024 / 1024} MiB`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw failure(name, 'is not UTF-8 text')
  }
}

/** Bytes that are kept of the beginning, and as many of the end. */
const kept = 2 * 1024 * 1024

/**
 * All that comes on standard input, of any length and in any encoding: a log. The middle of a long one is left out, and
 * what is no UTF-8 is replaced.
 *
 * @throws Problem IPK_REQUEST_INVALID when it cannot be read
 */
export function readPaste(): string {
  const head: Buffer[] = []
  let headSize = 0
  let tail = Buffer.alloc(0)
  try {
    for (;;) {
      const chunk = Buffer.alloc(256 * 1024)
      const size = readSome(0, chunk)
      if (size === 0) break
      const part = chunk.subarray(0, size)
      if (headSize < kept) {
        head.push(part)
        headSize += size
      } else {
        const both = Buffer.concat([tail, part])
        tail = both.subarray(Math.max(0, both.length - kept))
      }
    }
  } catch (error) {
    const code = systemCode(error)
    throw new Problem('IPK_REQUEST_INVALID', `standard input cannot be read (${code})`, {
      hint: 'pipe the text in, or give it as --message TEXT',
    })
  }
  return Buffer.concat([...head, tail]).toString('utf8')
}

/** Reads into the buffer and tells how many bytes; 0 at the end. Waits for standard input that nobody has written to yet. */
export function readSome(descriptor: number, into: Buffer): number {
  for (;;) {
    try {
      return readSync(descriptor, into)
    } catch (error) {
      const code = systemCode(error)
      if (code === 'EOF') return 0
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    }
  }
}

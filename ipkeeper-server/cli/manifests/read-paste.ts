import { Problem } from '../../../shared/problem/problem.ts'
import { readSome } from './read-some.ts'

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
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new Problem('IPK_REQUEST_INVALID', `standard input cannot be read (${code})`, {
      hint: 'pipe the text in, or give it as --message TEXT',
    })
  }
  return Buffer.concat([...head, tail]).toString('utf8')
}

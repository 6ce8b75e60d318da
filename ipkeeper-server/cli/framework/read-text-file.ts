import { closeSync } from 'node:fs'
import { Problem } from '../../../shared/problem/problem.ts'
import { openRegularFile, UnreadableFile } from '../../host/regular-file.ts'
import { readSome } from '../manifests/read-some.ts'

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
    if (error instanceof UnreadableFile) throw failure(name, 'is no regular file')
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw failure(name, `cannot be read (${code})`)
  } finally {
    if (descriptor !== undefined && !stdin) closeSync(descriptor)
  }
  if (!bytes) throw failure(name, `has more than ${most / 1024 / 1024} MiB`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw failure(name, 'is no UTF-8 text')
  }
}

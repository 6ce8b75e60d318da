import { closeSync } from 'node:fs'
import { StringDecoder } from 'node:string_decoder'
import { systemCode } from '../../../shared/system-code.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { openRegularFile } from '../../host/regular-file.ts'
import { readSome } from './read-input.ts'

/** Characters of a line that are kept; the rest of a longer one is passed over. */
const longest = 1024 * 1024

/**
 * The lines of a file of any length; "-" is standard input. What is no UTF-8 is replaced.
 *
 * @throws Problem IPK_REQUEST_INVALID
 */
export function* readLines(path: string): Generator<string> {
  const isStdin = path === '-'
  const descriptor = isStdin ? 0 : opened(path)
  const decoder = new StringDecoder('utf8')
  const chunk = Buffer.alloc(64 * 1024)
  let rest = ''
  try {
    for (;;) {
      const read = readSome(descriptor, chunk)
      const lines = (rest + (read === 0 ? decoder.end() : decoder.write(chunk.subarray(0, read)))).split('\n')
      rest = (lines.pop() ?? '').slice(0, longest)
      yield* lines
      if (read > 0) continue
      if (rest !== '') yield rest
      return
    }
  } catch (error) {
    throw unreadable(isStdin ? 'standard input' : path, error)
  } finally {
    if (!isStdin) closeSync(descriptor)
  }
}

function opened(path: string): number {
  try {
    return openRegularFile(path, { most: Infinity })
  } catch (error) {
    throw unreadable(path, error)
  }
}

const unreadable = (name: string, error: unknown): Problem =>
  new Problem('IPK_REQUEST_INVALID', `${name} cannot be read (${systemCode(error)})`, {
    hint: 'name another file',
  })

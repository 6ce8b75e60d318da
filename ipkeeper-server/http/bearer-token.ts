import { createHash, timingSafeEqual } from 'node:crypto'
import { readRegularFile } from '../host/regular-file.ts'

/** Bytes of a file that holds a token. */
const most = 4096
/** Characters of a token that nobody guesses. */
const least = 16

/** What came of a request that has to show a token. `unknown`: there is none that it could be held against. */
export type TokenVerdict = 'shown' | 'wrong' | 'unknown'

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * Holds `Authorization: Bearer TOKEN` against the token in a file, which is read each time: one that is replaced counts at once. By
 * digests, so that how long it takes tells nothing of the token.
 *
 * @param onError hears why the file gives no token
 */
export async function judgeToken(
  path: string,
  authorization: string | undefined,
  onError: (error: unknown) => void,
): Promise<TokenVerdict> {
  let token: string
  try {
    token = (await readRegularFile(path, { most })).toString().trim()
    if (token.length < least) throw new Error(`${path} has no token of at least ${least} characters`)
  } catch (error) {
    onError(error)
    return 'unknown'
  }
  const shown = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  return shown !== undefined && timingSafeEqual(digestOf(shown), digestOf(token)) ? 'shown' : 'wrong'
}

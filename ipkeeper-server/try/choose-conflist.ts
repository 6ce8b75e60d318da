import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '../../shared/problem/problem.ts'

/** Code units of UTF-16 sort otherwise than bytes do. */
const bytewise = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

/**
 * The file of a folder that containerd takes: the first by the bytes of its name, with a dot at the beginning or without
 * (cni-protocol J1, J2).
 *
 * @throws Problem IPK_CONFLIST_MISSING
 */
export function chooseConflist(folder: string): string {
  let names: readonly string[]
  try {
    names = readdirSync(folder, { withFileTypes: true })
      .filter(entry => !entry.isDirectory())
      .map(entry => entry.name)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new Problem('IPK_CONFLIST_MISSING', `${folder} cannot be read (${code})`, { cause: error })
  }
  const [first] = names.filter(name => /\.(conf|conflist|json)$/.test(name)).sort(bytewise)
  if (first !== undefined) return join(folder, first)
  throw new Problem('IPK_CONFLIST_MISSING', `${folder} has no .conflist, .conf or .json`)
}

import { lstatSync } from 'node:fs'
import { link, writeFile } from 'node:fs/promises'
import { Problem } from '../../shared/problem/problem.ts'
import { writeDurably } from '../host/durable-file.ts'
import { readPlainFile, sameState, type ReadFile } from './read-source-file.ts'
import { systemCode } from '../../shared/system-code.ts'

/** Parts of names behind the last point, by which no runtime takes the files for its own. */
const newSuffix = `.new-${process.pid}`
const originalSuffix = (at: Date): string => `.orig-${at.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`

const refused = (path: string, why: string, cause?: unknown): Problem =>
  new Problem('IPK_FIX_REFUSED', `${path} was not changed: ${why}`, cause === undefined ? {} : { cause })

/** A second name for the file itself, so that it keeps its mode, owner and times; a copy where links are not possible. */
async function keepOriginal(path: string, { bytes, state }: ReadFile, at: Date): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const name = `${path}${originalSuffix(at)}${attempt === 0 ? '' : `-${attempt}`}`
    try {
      await link(path, name)
      return name
    } catch (error) {
      const code = systemCode(error)
      if (code === 'EEXIST' && attempt < 100) continue
      if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EMLINK') throw error
      await writeFile(name, bytes, { flag: 'wx', mode: Number(state.mode & 0o7777n) })
      return name
    }
  }
}

/**
 * Puts a new text in the place of a file, at once and for good: whoever looks, a runtime or the node after a power cut, sees
 * the old text or the new one, whole. Mode and owner stay; the old file stays beside it under a name that no runtime reads.
 *
 * @param before as the file was read; one that has changed since is left alone
 * @param check is given what was written, as it is read back; whatever it throws, nothing is changed
 * @returns the path of the original
 * @throws Problem IPK_FIX_REFUSED
 */
export async function rewriteConfig(
  path: string,
  before: ReadFile,
  text: string,
  { now, check }: { readonly now: Date; readonly check: (text: string) => void },
): Promise<string> {
  const fresh = `${path}${newSuffix}`
  let original = ''
  try {
    await writeDurably(path, text, {
      ...{ temporary: fresh, exclusive: true, mode: Number(before.state.mode & 0o7777n) },
      owner: { uid: Number(before.state.uid), gid: Number(before.state.gid) },
      check: async () => {
        const written = await readPlainFile(fresh)
        if (!('bytes' in written)) throw refused(path, written.why)
        check(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(written.bytes))
        if (!sameState(before.state, lstatSync(path, { bigint: true })))
          throw refused(path, 'it has changed since it was looked at')
        original = await keepOriginal(path, before, now)
      },
    })
    return original
  } catch (error) {
    if (error instanceof Problem) throw error
    throw refused(path, error instanceof Error ? error.message : String(error), error)
  }
}

import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Problem } from '../../../shared/problem/problem.ts'
import { systemCode } from '../../../shared/system-code.ts'
import { writeDurably, type ReplacingCalls } from '../../host/durable-file.ts'
import { jsonText } from '../framework/document-text.ts'
import type { PartReport } from './collect.ts'
import { manifestText, type Manifest } from './manifest.ts'
import { tarArchive } from './tar-archive.ts'

const another = 'name another file: ipkeeperctl bundle FILE'

function unwritten(path: string, error: unknown): Problem {
  const code = systemCode(error)
  const hints: Readonly<Record<string, string>> = {
    ENOENT: `there is no folder ${dirname(path)}: create it, or ${another}`,
    EEXIST: `${unfinished(path)} is being written, or was left behind: remove it, or ${another}`,
  }
  const hint = hints[code] ?? `free space on that disk, or ${another}`
  return new Problem('IPK_REQUEST_INVALID', `${path} cannot be written (${code})`, { cause: error, hint })
}

const unfinished = (path: string): string => `${path}.unfinished`

/** Throws where a bundle could not be written, before anything is collected for it. */
export function checkTarget(path: string): void {
  if (existsSync(path)) throw new Problem('IPK_REQUEST_INVALID', `${path} exists already`, { hint: another })
  try {
    accessSync(dirname(path), constants.W_OK)
  } catch (error) {
    const code = systemCode(error)
    throw code === 'ENOENT'
      ? unwritten(path, error)
      : new Problem('IPK_REQUEST_INVALID', `${dirname(path)} cannot be written to (${code})`, {
          cause: error,
          hint: another,
        })
  }
}

/**
 * Writes a bundle under another name, and gives it its own when it is whole. Returns its size in bytes.
 *
 * @param folder what everything in it is unpacked to
 * @throws Problem; then there is no file, neither of this name nor of the other
 */
export async function writeBundle(
  path: string,
  folder: string,
  { manifest, reports }: { readonly manifest: Manifest; readonly reports: readonly PartReport[] },
  signal?: AbortSignal,
  calls?: ReplacingCalls,
): Promise<number> {
  const texts = [
    { name: 'MANIFEST.txt', text: manifestText(manifest) },
    { name: 'MANIFEST.json', text: jsonText(manifest, 2) },
    ...reports.flatMap(({ collected }) => collected.files),
  ]
  const files = texts.map(({ name, text }) => ({ name, content: Buffer.from(text) }))
  const packed = await promisify(gzip)(tarArchive(folder, files, Date.parse(manifest.createdAt)))
  const check = (): void => {
    if (signal?.aborted) throw new Problem('IPK_INTERRUPTED', 'interrupted: no bundle was written')
    checkTarget(path)
  }
  try {
    check()
    await writeDurably(path, packed, {
      ...{ temporary: unfinished(path), mode: 0o600, exclusive: true, check },
      ...(calls && { calls }),
    })
  } catch (error) {
    throw error instanceof Problem ? error : unwritten(path, error)
  }
  return packed.length
}

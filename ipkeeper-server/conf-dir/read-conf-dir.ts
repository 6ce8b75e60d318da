import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { field, isJsonObject, type JsonObject } from '../../shared/json/fold.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { compareNames, isPutAside, isRuntimeFile } from '../lint/runtime-files.ts'
import type { SourceFile } from '../lint/site.ts'
import { readSourceFile } from './read-source-file.ts'

/** More files than any node has; the rest is left alone rather than read without end. */
const mostFiles = 1000

const isOfInterest = (name: string): boolean =>
  isRuntimeFile(name) || isPutAside(name) || /\.ya?ml$/.test(name)

/**
 * The files of a folder that a runtime would read, and those that people take for such. Files of put-aside names come
 * without their text.
 *
 * @throws Problem IPK_CONF_DIR_UNREADABLE when there is no such folder, or it cannot be read
 */
export async function readConfDir(directory: string): Promise<readonly SourceFile[]> {
  let names: string[]
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    // As libcni does it: folders are passed over, links to folders are not.
    names = entries.filter(entry => !entry.isDirectory() && isOfInterest(entry.name)).map(({ name }) => name)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    const why = code === 'ENOENT' ? 'there is no such folder' : code === 'ENOTDIR' ? 'it is no folder' : code
    throw new Problem('IPK_CONF_DIR_UNREADABLE', `${directory} cannot be read: ${why}`, { cause: error })
  }
  const files: SourceFile[] = []
  for (const name of names.sort().slice(0, mostFiles)) {
    const path = join(directory, name)
    files.push(isPutAside(name) ? { path, name, text: undefined } : await readSourceFile(path, 'same folder'))
  }
  // A manifest without a network configuration is none of ours.
  return files.filter(({ name, text }) => !/\.ya?ml$/.test(name) || /\bcniVersion\b/.test(text ?? ''))
}

/** The configuration of a network as it stands in its file. */
export interface FoundNetwork {
  readonly file: string
  readonly text: string
  readonly config: JsonObject
}

/**
 * The first file of a folder, in the runtime's order, whose network has this name. undefined when there is none: files that
 * cannot be read or are no JSON are of no network.
 *
 * @throws Problem IPK_CONF_DIR_UNREADABLE
 */
export async function findNetwork(directory: string, name: string): Promise<FoundNetwork | undefined> {
  const files = await readConfDir(directory)
  for (const { path, name: fileName, text } of files.toSorted((a, b) => compareNames(a.name, b.name))) {
    if (text === undefined || !isRuntimeFile(fileName)) continue
    let config: unknown
    try {
      config = JSON.parse(text)
    } catch {
      continue
    }
    if (isJsonObject(config) && field(config, 'name') === name) return { file: path, text, config }
  }
  return undefined
}

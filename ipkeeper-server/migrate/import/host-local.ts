import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Findings, joinFindings } from './plan/findings.ts'
import { isReservationName, readHostLocal } from './plan/read-host-local.ts'
import {} from '../../result-cache/file-calls.ts'
import { glance, readCacheFile } from '../../result-cache/read-cache-file.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { systemCode } from '../../../shared/system-code.ts'

/** A file of a folder, as it stood when it was read. */
export interface FolderFile {
  /** Absolute. */
  readonly path: string
  readonly name: string
  /** null: it cannot be read. */
  readonly text: string | null
  /** Why it cannot. */
  readonly why: string
  /** Milliseconds since the epoch. */
  readonly modifiedAt: number
}

/**
 * What is in a folder, in the order of its names; nothing where there is none, unless it must be there. Rejects with
 * IPK_CACHE_UNREADABLE.
 */
export async function fileNamesIn(folder: string, mustExist = false): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort()
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' && !mustExist) return []
    throw new Problem('IPK_CACHE_UNREADABLE', `${folder} cannot be read (${code})`, {
      cause: error,
      hint: 'run as root, or name another folder: --dir DIR',
    })
  }
}

/** A file that is being written is read again; no link is followed, and nothing but a file is opened. */
async function readFile(path: string, name: string): Promise<FolderFile | undefined> {
  for (let tries = 0; ; tries++) {
    const bytes = Buffer.from(path)
    const seen = await glance(bytes)
    if (seen.state === 'gone') return undefined
    if (seen.state === 'odd') return { path, name, text: null, why: seen.detail, modifiedAt: 0 }
    const modifiedAt = Number(seen.identity.mtimeNs / 1_000_000n)
    const reading = await readCacheFile(bytes, seen.identity)
    if (reading.state === 'gone') return undefined
    if (reading.state === 'read') return { path, name, text: reading.text, why: '', modifiedAt }
    const why = reading.state === 'odd' ? reading.detail : 'it keeps changing'
    if (reading.state === 'odd' || tries === 3) return { path, name, text: null, why, modifiedAt }
  }
}

/** The files of a folder one after the other; `wants` spares reading what is of no use. */
export async function* filesIn(folder: string, wants: (name: string) => boolean): AsyncGenerator<FolderFile> {
  for (const name of await fileNamesIn(folder)) {
    const file = wants(name) ? await readFile(join(folder, name), name) : undefined
    if (file) yield file
  }
}

async function isFolder(path: string): Promise<boolean> {
  return await lstat(path).then(
    stats => stats.isDirectory(),
    () => false,
  )
}

/** host-local's folder. One that somebody named and is not there is a slip of the pen, and not an empty one. */
interface Root {
  readonly path: string
  readonly mustExist: boolean
}

/** The folder of each network: those in the folder of all, and those that configurations put elsewhere. */
async function foldersOf(
  root: Root,
  dataDirs: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const folders = new Map<string, string[]>()
  const add = (network: string, path: string): void => {
    const paths = folders.get(network) ?? []
    if (!paths.includes(path)) folders.set(network, [...paths, path])
  }
  for (const name of await fileNamesIn(root.path, root.mustExist))
    if (await isFolder(join(root.path, name))) add(name, join(root.path, name))
  for (const [network, dataDir] of dataDirs) add(network, join(dataDir, network))
  return folders
}

/** Reservations of host-local on this node. `only`: of this network. Rejects with IPK_CACHE_UNREADABLE. */
export async function findHostLocal(
  root: Root,
  dataDirs: ReadonlyMap<string, string>,
  only: string | undefined,
  onProgress: (looked: number) => void,
): Promise<Findings> {
  const parts: Findings[] = []
  let looked = 0
  for (const [network, paths] of await foldersOf(root, dataDirs)) {
    if (only !== undefined && network !== only) continue
    for (const path of paths) {
      const files: FolderFile[] = []
      for await (const file of filesIn(path, isReservationName)) {
        files.push(file)
        if (++looked % 256 === 0) onProgress(looked)
      }
      parts.push(readHostLocal(network, files))
    }
  }
  return joinFindings(parts)
}

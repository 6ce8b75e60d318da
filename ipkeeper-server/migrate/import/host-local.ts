import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isReservationName, readHostLocal } from './plan/read-host-local.ts'
import { joinFindings, type Findings } from './plan/findings.ts'
import { filesIn, namesIn, type FolderFile } from './read-folder.ts'

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
  for (const name of await namesIn(root.path, root.mustExist))
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

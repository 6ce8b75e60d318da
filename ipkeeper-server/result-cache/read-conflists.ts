import { constants } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { WholeConflist } from './plan/cached-result.ts'
import { readConflist } from './plan/read-conflist.ts'

/** Bytes; a longer file is no network configuration. */
const sizeLimit = 1024 * 1024

export interface KnownNetwork {
  readonly usesIpkeeper: boolean
  /** undefined where no Result can be written in its version. */
  readonly conflist: WholeConflist | undefined
}

/** Runtimes follow links here, and so do we; a pipe or device is not opened. */
async function readRegular(path: string): Promise<Buffer | undefined> {
  const { size } = await stat(path).then(found => (found.isFile() ? found : { size: Infinity }))
  if (size > sizeLimit) return undefined
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!(await file.stat()).isFile()) return undefined
    const bytes = await file.readFile()
    return bytes.length <= sizeLimit ? bytes : undefined
  } finally {
    await file.close()
  }
}

/**
 * The networks of a folder of configurations, by name; of two files with one name the first one counts, as it does for
 * runtimes. What cannot be read, and a folder that is not there, is left out: the linter speaks of such.
 */
export async function readConflists(folder: string): Promise<ReadonlyMap<string, KnownNetwork>> {
  const networks = new Map<string, KnownNetwork>()
  const names = await readdir(folder).catch((): string[] => [])
  for (const name of names.filter(each => /\.(conflist|conf|json)$/.test(each)).sort()) {
    const bytes = await readRegular(join(folder, name)).catch(() => undefined)
    const found = bytes && readConflist(bytes.toString())
    if (!found || networks.has(found.name)) continue
    const { name: network, cniVersion, usesIpkeeper, madeList } = found
    const base64 = (madeList === undefined ? bytes : Buffer.from(madeList)).toString('base64')
    const conflist = cniVersion && { name: network, cniVersion, base64 }
    networks.set(network, { usesIpkeeper, conflist })
  }
  return networks
}

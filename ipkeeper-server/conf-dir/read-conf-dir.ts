import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readSourceFile } from './read-source-file.ts'
import { type LoadedNetwork, loadedNetworks } from '../diagnose/lint/loaded-networks.ts'
import { compareNames, isRuntimeFile, isCopyOfConfig } from '../diagnose/lint/runtime-files.ts'
import { networksOfMultus } from '../diagnose/lint/networks-of-multus.ts'
import type { SourceFile } from '../diagnose/lint/site.ts'
import { usesIpkeeper } from '../diagnose/lint/uses-ipkeeper.ts'
import type { Pool } from '../ipam/pools/pool.ts'
import { rangesComeWithAdd, readIdentity, readIpamConfig } from '../ipam/request/network-config.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { systemCode } from '../../shared/system-code.ts'

/** More files than any node has; the rest is left alone rather than read without end. */
const mostFiles = 1000

const isOfInterest = (name: string): boolean =>
  isRuntimeFile(name) || isCopyOfConfig(name) || /\.ya?ml$/.test(name)

/**
 * The names of a folder that a runtime would read, and those that people take for such, in the runtime's order.
 *
 * @throws Problem IPK_CONF_DIR_UNREADABLE when there is no such folder, or it cannot be read
 */
export async function listConfDir(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    // As libcni does it: folders are passed over, links to folders are not.
    return entries
      .filter(entry => !entry.isDirectory() && isOfInterest(entry.name))
      .map(({ name }) => name)
      .sort(compareNames)
      .slice(0, mostFiles)
  } catch (error) {
    const code = systemCode(error)
    const why = code === 'ENOENT' ? 'there is no such folder' : code === 'ENOTDIR' ? 'it is no folder' : code
    throw new Problem('IPK_CONF_DIR_UNREADABLE', `${directory} cannot be read: ${why}`, { cause: error })
  }
}

/**
 * Those files, with their texts. Files of put-aside names come without.
 *
 * @throws Problem IPK_CONF_DIR_UNREADABLE
 */
export async function readConfDir(directory: string): Promise<readonly SourceFile[]> {
  const files: SourceFile[] = []
  for (const name of await listConfDir(directory)) {
    const path = join(directory, name)
    files.push(
      isCopyOfConfig(name) ? { path, name, text: undefined } : await readSourceFile(path, 'same folder'),
    )
  }
  // A manifest without a network configuration is none of ours.
  return files.filter(({ name, text }) => !/\.ya?ml$/.test(name) || /\bcniVersion\b/.test(text ?? ''))
}

/**
 * The networks of a runtime's folder, in its order. None where the folder cannot be read, and none of a file that cannot be
 * loaded: the linter speaks of such.
 */
export async function readNetworks(directory: string): Promise<readonly LoadedNetwork[]> {
  return loadedNetworks(await readConfDir(directory).catch(() => []))
}

/** Ranges that stand in network configurations; `complete`: none comes with an ADD only, or cannot be read. */
export interface NetworkPools {
  readonly pools: readonly Pool[]
  readonly complete: boolean
}

/** The ranges of the networks in a runtime's folder that have their addresses from ipkeeper, those within Multus' included. */
export async function readNetworkPools(directory: string): Promise<NetworkPools> {
  const pools: Pool[] = []
  const networks = await readNetworks(directory)
  const called = networksOfMultus(networks)
  let complete = called !== 'elsewhere'
  for (const { name, cniVersion, plugins } of [...networks, ...(called === 'elsewhere' ? [] : called)]) {
    for (const plugin of plugins.filter(usesIpkeeper)) {
      const config = { cniVersion, ...plugin, name }
      try {
        if (rangesComeWithAdd(config)) complete = false
        else {
          const { inline } = readIpamConfig(config, readIdentity(config))
          if (inline) pools.push(inline)
        }
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        complete = false
      }
    }
  }
  return { pools, complete }
}

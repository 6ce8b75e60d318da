import { loadedNetworks, type LoadedNetwork } from '../diagnose/lint/loaded-networks.ts'
import { readConfDir } from './read-conf-dir.ts'

/**
 * The networks of a runtime's folder, in its order. None where the folder cannot be read, and none of a file that cannot be
 * loaded: the linter speaks of such.
 */
export async function readNetworks(directory: string): Promise<readonly LoadedNetwork[]> {
  return loadedNetworks(await readConfDir(directory).catch(() => []))
}

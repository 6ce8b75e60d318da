import { existsSync } from 'node:fs'
import { field } from '../../shared/json/fold.ts'
import { multusConfDir } from '../../shared/paths.ts'
import { isMultus } from '../diagnose/lint/networks-of-multus.ts'
import type { LintInput } from '../diagnose/lint/site.ts'
import { readNetworks } from './read-conf-dir.ts'

/**
 * The networks that Multus finds in files, for definitions without a config: in its "confDir", as its configuration in the
 * runtime's folder says. undefined where there is neither folder, as on a machine that is no node.
 */
export async function readMultusFiles(netDir: string): Promise<LintInput['multusFiles']> {
  const said = (await readNetworks(netDir)).flatMap(({ plugins }) =>
    plugins.filter(plugin => isMultus(field(plugin, 'type'))).map(plugin => field(plugin, 'confDir')),
  )
  const folders = [...new Set(said.map(folder => (typeof folder === 'string' ? folder : multusConfDir)))]
  if (folders.length === 0) folders.push(multusConfDir)
  if (![netDir, ...folders].some(folder => existsSync(folder))) return undefined
  const networks = (await Promise.all(folders.map(readNetworks))).flat()
  return { folders, networks: new Set(networks.map(({ name }) => name)) }
}

import { field } from '../../shared/json/fold.ts'
import { readConfDir } from '../conf-dir/read-conf-dir.ts'
import { lint, type Linted } from '../diagnose/lint/lint.ts'
import { loadedNetworks } from '../diagnose/lint/loaded-networks.ts'
import type { SourceFile } from '../diagnose/lint/site.ts'

/** The network that pods of a node get: that of the first file of the runtime's folder. */
export interface FirstNetwork {
  readonly file: string
  readonly network: string
  /** Types of its plugins, in the order of the chain. */
  readonly plugins: readonly string[]
}

/** A folder as a runtime has it that takes one file, as containerd does unless it is told otherwise. */
export interface ReadFolder {
  readonly linted: Linted
  /** undefined where there is no file, or the first one cannot be loaded. */
  readonly first: FirstNetwork | undefined
}

/** @param files of the folder, in the runtime's order */
export function readFolder(path: string, files: readonly SourceFile[]): ReadFolder {
  const linted = lint({ files, directory: { path, maxConfNum: 1 } })
  const chosen = linted.files.find(file => file.chosen === true)?.file
  const network = loadedNetworks(files).find(loaded => loaded.path === chosen)
  if (!network) return { linted, first: undefined }
  const types = network.plugins.map(plugin => field(plugin, 'type'))
  const plugins = types.filter(type => typeof type === 'string')
  return { linted, first: { file: network.path, network: network.name, plugins } }
}

/** That of a folder as it is; undefined as well where it cannot be read. */
export async function firstNetwork(folder: string): Promise<FirstNetwork | undefined> {
  return readFolder(folder, await readConfDir(folder).catch(() => [])).first
}

/** "network cbr0: flannel, portmap" */
export const describeNetwork = ({ network, plugins }: FirstNetwork): string =>
  `network ${network}: ${plugins.join(', ')}`

import { existsSync, globSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { parse } from 'smol-toml'
import { isJsonObject } from '../../shared/json/fold.ts'
import { defaultPaths } from '../../shared/paths.ts'
import { readRegularFileSync } from '../host/regular-file.ts'

/** Where runtimes have their plugins, unless they are told otherwise: upstream, Debian, Fedora. */
const usualBinDirs = [defaultPaths.binDir, '/usr/lib/cni', '/usr/libexec/cni'] as const

/** Main files of containerd; those of k3s and RKE2 are written by them. */
const containerdFiles = [
  '/etc/containerd/config.toml',
  '/var/lib/rancher/k3s/agent/etc/containerd/config.toml',
  '/var/lib/rancher/rke2/agent/etc/containerd/config.toml',
] as const

/** In the order in which CRI-O reads them. */
const crioFiles = ['/etc/crio/crio.conf', '/etc/crio/crio.conf.d/*'] as const

/** The plugin that wires pods, as containerd 2 and containerd 1 call it. */
const criPlugins = ['io.containerd.cri.v1.runtime', 'io.containerd.grpc.v1.cri'] as const

/** Bytes that a configuration may have, and files that one may import. */
const [most, mostFiles] = [1024 * 1024, 64]

type Table = Readonly<Record<string, unknown>>

/** undefined for a file that cannot be read: the runtime itself complains of it. */
function readToml(path: string): Table | undefined {
  try {
    return parse(readRegularFileSync(path, { most }).toString())
  } catch {
    return undefined
  }
}

function tableAt(table: Table | undefined, ...keys: readonly string[]): Table | undefined {
  let found: unknown = table
  for (const key of keys) found = isJsonObject(found) ? found[key] : undefined
  return isJsonObject(found) ? found : undefined
}

const textsOf = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).filter(one => typeof one === 'string' && one !== '') as string[]

/** As containerd has it: a name without a pattern may be relative to the file. */
function importedBy(folder: string, pattern: string): readonly string[] {
  if (pattern.includes('*')) return isAbsolute(pattern) ? globSync(pattern).sort() : []
  return [isAbsolute(pattern) ? pattern : join(folder, pattern)]
}

/**
 * What containerd is told of CNI, by a main file and what it imports: the last file with a section for the plugin replaces the whole
 * section. undefined where there is no such file.
 */
function containerdCni(main: string): Table | undefined {
  if (!existsSync(main)) return undefined
  const waiting = [main]
  const seen = new Set<string>()
  let section: Table | undefined
  for (let path = waiting.shift(); path !== undefined && seen.size < mostFiles; path = waiting.shift()) {
    if (seen.has(path)) continue
    seen.add(path)
    const table = readToml(path)
    const folder = dirname(path)
    for (const plugin of criPlugins) section = tableAt(table, 'plugins', plugin) ?? section
    for (const pattern of textsOf(table?.['imports'])) waiting.push(...importedBy(folder, pattern))
  }
  return tableAt(section, 'cni') ?? {}
}

/** What CRI-O is told of networks by the last file that says something of a key; empty where it is told nothing of it. */
function crioNetwork(patterns: readonly string[], key: string): readonly string[] | undefined {
  const files = patterns.flatMap(pattern => globSync(pattern).sort())
  if (files.length === 0) return undefined
  const told = files.map(path => textsOf(tableAt(readToml(path), 'crio', 'network')?.[key]))
  return told.findLast(folders => folders.length > 0) ?? []
}

/** By which keys runtimes are told a kind of folder, and which one they have where they are not. */
interface ToldBy {
  readonly containerd: readonly string[]
  readonly crio: string
  readonly standard: string
}

/** Folders of the runtimes that are configured on this node. */
function toldFolders(root: string, { containerd, crio, standard }: ToldBy): readonly string[] {
  const at = (path: string): string => join(root, path)
  const tables = containerdFiles.map(path => containerdCni(at(path))).filter(table => table !== undefined)
  const ofContainerd = tables.map(table => containerd.flatMap(key => textsOf(table[key])))
  const ofCrio = crioNetwork(crioFiles.map(at), crio)
  const all = [...ofContainerd, ...(ofCrio === undefined ? [] : [ofCrio])]
  return [...new Set(all.flatMap(folders => (folders.length > 0 ? folders : [standard])))]
}

/** Where the runtimes of this node look for plugins, as they are configured; none where there is no configuration. */
export const toldBinDirs = (root = '/'): readonly string[] =>
  toldFolders(root, {
    containerd: ['bin_dirs', 'bin_dir'],
    crio: 'plugin_dirs',
    standard: defaultPaths.binDir,
  })

/** Where they look for network configurations. */
export const toldConfDirs = (root = '/'): readonly string[] =>
  toldFolders(root, { containerd: ['conf_dir'], crio: 'network_dir', standard: defaultPaths.confDir })

/** Where the runtimes of this node look for plugins; where none is configured, those of the usual folders that exist. */
export function runtimeBinDirs(root = '/'): readonly string[] {
  const told = toldBinDirs(root)
  if (told.length > 0) return told
  const there = usualBinDirs.filter(folder => existsSync(join(root, folder)))
  return there.length > 0 ? there : [defaultPaths.binDir]
}

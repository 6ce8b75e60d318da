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

/** Of a main file and what it imports: the last file with a section for the plugin replaces the whole section. */
function containerdBinDirs(main: string): readonly string[] {
  if (!existsSync(main)) return []
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
  const { bin_dirs: several, bin_dir: one } = tableAt(section, 'cni') ?? {}
  const named = [...textsOf(several), ...textsOf(one)]
  return named.length > 0 ? named : [defaultPaths.binDir]
}

function crioBinDirs(patterns: readonly string[]): readonly string[] {
  const files = patterns.flatMap(pattern => globSync(pattern).sort())
  if (files.length === 0) return []
  const told = files.map(path => textsOf(tableAt(readToml(path), 'crio', 'network')?.['plugin_dirs']))
  return told.findLast(folders => folders.length > 0) ?? [defaultPaths.binDir]
}

/** Where the runtimes of this node look for plugins; where none is configured, those of the usual folders that exist. */
export function runtimeBinDirs(root = '/'): readonly string[] {
  const at = (path: string): string => join(root, path)
  const told = [
    ...containerdFiles.flatMap(path => containerdBinDirs(at(path))),
    ...crioBinDirs(crioFiles.map(at)),
  ]
  if (told.length > 0) return [...new Set(told)]
  const there = usualBinDirs.filter(folder => existsSync(at(folder)))
  return there.length > 0 ? there : [defaultPaths.binDir]
}

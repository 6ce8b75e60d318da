import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { supportedVersions } from '../../shared/cni/versions.ts'
import { lintFiles } from '../conf-dir/lint-files.ts'
import { readConfDir } from '../conf-dir/read-conf-dir.ts'
import { readSourceFile } from '../conf-dir/read-source-file.ts'
import { toldBinDirs, toldConfDirs } from '../conf-dir/runtime-bin-dirs.ts'
import type { Linted } from '../diagnose/lint/lint.ts'
import { loadedNetworks } from '../diagnose/lint/loaded-networks.ts'
import { compareNames } from '../diagnose/lint/runtime-files.ts'
import type { PluginSeen } from '../diagnose/lint/site.ts'
import type { NodeView } from '../diagnose/doctor/probe-node.ts'
import { readFolder, type FirstNetwork, type ReadFolder } from './first-network.ts'
import type { Installation } from './install.ts'

/** A file, and what would become of it. `same`: it is there already, byte for byte. */
export interface PlannedFile {
  readonly path: string
  readonly change: 'new' | 'replaced' | 'same'
  readonly what: string
}

/** A node as it is, and as it would be. Nothing of it is changed. */
export interface WouldInstall {
  readonly wanted: Installation
  /** With the networks that it would have. */
  readonly node: NodeView
  readonly files: readonly PlannedFile[]
  /** Folders that the configuration of the runtime names; empty where there is none. */
  readonly told: { readonly binDirs: readonly string[]; readonly confDirs: readonly string[] }
  /** What pods get now. */
  readonly before: FirstNetwork | undefined
  /** The folder of networks with the conflist in it. */
  readonly after: ReadFolder
  /** What the linter says of the conflist, as it would stand; undefined without one. */
  readonly linted: Linted | undefined
}

/** Bytes of a file; undefined where it cannot be read as one. */
function bytesOf(path: string): Buffer | undefined {
  try {
    return statSync(path).isFile() ? readFileSync(path) : undefined
  } catch {
    return undefined
  }
}

function plan(from: string, to: string, what: string): PlannedFile {
  const [wanted, there] = [bytesOf(from), bytesOf(to)]
  const change = !existsSync(to) ? 'new' : wanted && there?.equals(wanted) ? 'same' : 'replaced'
  return { path: to, change, what }
}

/** Looks at a node with the eyes of its runtime, once as it is and once with what is to be installed. Changes nothing. */
export async function wouldInstall(
  wanted: Installation,
  node: NodeView,
  hostRoot = '/',
): Promise<WouldInstall> {
  const { plugin, note, binDir, conflist, confDir } = wanted
  const target = join(binDir, 'ipkeeper')
  const there = await readConfDir(confDir).catch(() => [])
  const read = conflist === undefined ? undefined : await readSourceFile(conflist, 'anywhere')
  const ours = read && { ...read, path: join(confDir, read.name) }
  const files = ours
    ? [...there.filter(({ name }) => name !== ours.name), ours].sort((a, b) => compareNames(a.name, b.name))
    : there
  const seen: PluginSeen = {
    ...{ kind: 'executable', path: target, versions: [...supportedVersions] },
    ...{ silence: '', unsafe: undefined },
  }
  return {
    wanted,
    node: { ...node, networks: loadedNetworks(files) },
    files: [
      plan(plugin, target, `the plugin${note === undefined ? '' : `: ${note}`}`),
      ...(conflist === undefined ? [] : [plan(conflist, join(confDir, basename(conflist)), 'the network')]),
    ],
    told: { binDirs: toldBinDirs(hostRoot), confDirs: toldConfDirs(hostRoot) },
    before: readFolder(confDir, there).first,
    after: readFolder(confDir, files),
    linted:
      read &&
      (await lintFiles([read], {
        ...{ binDirs: [binDir], binDirsNamed: true, maxConfNum: 1 },
        willBe: new Map([['ipkeeper', seen]]),
      })),
  }
}

/** The folder, or the nearest one above it that is there. */
export function nearestFolder(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestFolder(dirname(path))
}

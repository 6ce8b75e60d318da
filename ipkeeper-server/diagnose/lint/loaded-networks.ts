import { isSupportedVersion, type CniVersion } from '../../../shared/cni/versions.ts'
import type { JsonObject } from '../../../shared/json/fold.ts'
import { toJsonObject } from './json/json-node.ts'
import { compareNames } from './runtime-files.ts'
import { readSite, type LintedFile, type SourceFile } from './site.ts'

/** A network as a runtime has it, once it has loaded its file. */
export interface LoadedNetwork {
  readonly path: string
  /** '' where the file, one of a single plugin, has none. */
  readonly name: string
  /** undefined: a version that no Result can be written in. */
  readonly cniVersion: CniVersion | undefined
  /** In the order of the chain, each as it would get it on stdin, without runtimeConfig. */
  readonly plugins: readonly JsonObject[]
  /** The text of the list: that of the file, or what libcni makes of a single plugin (ConfListFromConf). */
  readonly list: string
}

/** What libcni takes a configuration without a version for. */
const firstVersion = '0.1.0'

function readLoaded({ path, text, refusal, isRuntimeFile, documents }: LintedFile): LoadedNetwork[] {
  const network = documents[0]?.network
  if (!isRuntimeFile || refusal !== undefined || text === undefined || !network) return []
  const { name = '', shape, root, plugins } = network
  const version = network.cniVersion === '' ? firstVersion : network.cniVersion
  return [
    {
      path,
      name,
      cniVersion: isSupportedVersion(version) ? version : undefined,
      plugins: plugins.map(({ config }) => config),
      list:
        shape === 'list'
          ? text
          : JSON.stringify({ cniVersion: version, name, plugins: [toJsonObject(root)] }),
    },
  ]
}

/** The networks of files that libcni would load, in the order of their names; the linter reports the rest. */
export function loadedNetworks(files: readonly SourceFile[]): readonly LoadedNetwork[] {
  return readSite({ files })
    .files.toSorted((a, b) => compareNames(a.name, b.name))
    .flatMap(readLoaded)
}

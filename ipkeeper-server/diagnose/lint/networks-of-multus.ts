import { field, isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { loadedNetworks, type LoadedNetwork } from './loaded-networks.ts'

/** What Multus calls itself in a configuration: the thin executable, and the shim of the thick one. */
const multusTypes: readonly unknown[] = ['multus', 'multus-shim']

/** Whether a plugin is Multus, which calls networks that no file of the runtime's folder need have. */
export function isMultus(type: unknown): boolean {
  return multusTypes.includes(type)
}

/** A network within the configuration of Multus: a list, or a single plugin. */
function delegateOf(path: string, delegate: JsonObject): readonly LoadedNetwork[] {
  const name = Array.isArray(field(delegate, 'plugins')) ? 'x.conflist' : 'x.conf'
  return loadedNetworks([{ path, name, text: JSON.stringify(delegate) }])
}

/** Of a path: Multus may see the runtime's folder under another one. */
const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/**
 * The networks of a pod's first interface that Multus calls, where they stand within its own configuration. `elsewhere`: it
 * names one that is in none of these files, but in a definition of the API, say.
 */
export function networksOfMultus(networks: readonly LoadedNetwork[]): readonly LoadedNetwork[] | 'elsewhere' {
  const known = new Set(networks.flatMap(({ name, path }) => [name, lastPart(path)]))
  const found: LoadedNetwork[] = []
  for (const { path, plugins } of networks) {
    for (const plugin of plugins.filter(one => isMultus(field(one, 'type')))) {
      const cluster = field(plugin, 'clusterNetwork')
      if (typeof cluster === 'string' && cluster !== '' && !known.has(lastPart(cluster))) return 'elsewhere'
      const delegates = field(plugin, 'delegates')
      for (const delegate of Array.isArray(delegates) ? (delegates as readonly unknown[]) : [])
        if (isJsonObject(delegate)) found.push(...delegateOf(path, delegate))
    }
  }
  return found
}

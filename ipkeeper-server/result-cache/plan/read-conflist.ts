import { field, isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { parseJson } from '../../../shared/json/parse-json.ts'
import { isSupportedVersion, type CniVersion } from '../../../shared/cni/versions.ts'

/** A network configuration as a runtime would load it. */
export interface Conflist {
  readonly name: string
  /** undefined: one that no Result can be written in. */
  readonly cniVersion: CniVersion | undefined
  /** Whether a plugin of it is ipkeeper, or has its addresses from it. */
  readonly usesIpkeeper: boolean
  /** The list that libcni makes of a single plugin (libcni/conf.go, ConfListFromConf); absent where the file is a list. */
  readonly madeList?: string
}

function isOurs(plugin: JsonObject): boolean {
  const ipam = field(plugin, 'ipam')
  return field(plugin, 'type') === 'ipkeeper' || (isJsonObject(ipam) && field(ipam, 'type') === 'ipkeeper')
}

/** What a file of /etc/cni/net.d says of its network; undefined when it is none that a runtime could load. */
export function readConflist(text: string): Conflist | undefined {
  let document: unknown
  try {
    document = parseJson(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(document)) return undefined
  const name = field(document, 'name')
  const listed = field(document, 'plugins')
  if (typeof name !== 'string' || name === '' || (listed !== undefined && !Array.isArray(listed)))
    return undefined
  // libcni takes a configuration without a version for the first one there was.
  const version = field(document, 'cniVersion') ?? '0.1.0'
  const plugins: readonly unknown[] = listed ?? [document]
  return {
    name,
    cniVersion: typeof version === 'string' && isSupportedVersion(version) ? version : undefined,
    usesIpkeeper: plugins.filter(isJsonObject).some(isOurs),
    ...(listed === undefined && {
      madeList: JSON.stringify({ cniVersion: version, name, plugins: [document] }),
    }),
  }
}

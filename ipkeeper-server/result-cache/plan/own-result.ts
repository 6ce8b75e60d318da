import { pluginSettings } from '../../../shared/cni/netconf.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { readCachedResult, type CachedAttachment } from './read-cached-result.ts'
import { usesIpkeeper } from '../../diagnose/lint/uses-ipkeeper.ts'

/** A result of an ADD that ipkeeper had a part in. */
export interface OwnResult extends CachedAttachment {
  /** State folders that the plugin used. */
  readonly stateDirs: readonly string[]
}

/** Levels below a network: its plugins, and delegates of those. */
const deepest = 4

/** Each configuration in a network that is ipkeeper's, also of plugins that others call (flannel, multus). */
function* ownConfigs(value: unknown, depth = 0): Generator<JsonObject> {
  if (depth > deepest) return
  if (Array.isArray(value)) for (const one of value) yield* ownConfigs(one, depth + 1)
  if (!isJsonObject(value)) return
  if (usesIpkeeper(value)) yield value
  else for (const one of Object.values(value)) yield* ownConfigs(one, depth + 1)
}

function stateDirOf(config: JsonObject, told: string): string[] {
  try {
    return [pluginSettings(config, { IPKEEPER_STATE_DIR: told }).stateDir]
  } catch {
    // The plugin refuses such a one.
    return []
  }
}

/**
 * What a file of libcni's cache says of an ADD of ipkeeper; undefined for all else.
 *
 * @param told state folder of a plugin whose configuration names none
 */
export function readOwnResult(text: string, told: string): OwnResult | undefined {
  const cached = readCachedResult(text)
  if (!cached) return undefined
  try {
    const { config } = JSON.parse(text) as { readonly config?: unknown }
    if (typeof config !== 'string') return undefined
    const network: unknown = JSON.parse(Buffer.from(config, 'base64').toString())
    const stateDirs = [...ownConfigs(network)].flatMap(one => stateDirOf(one, told))
    return stateDirs.length > 0 ? { ...cached, stateDirs } : undefined
  } catch {
    return undefined
  }
}

import { objectField, stringField, withField, type JsonObject } from '../json/fold.ts'
import { Problem } from '../problem/problem.ts'

/** `ipam.fallback`: the IPAM plugin that serves pods which ask for nothing. */
export interface Fallback {
  /** Name of its executable. */
  readonly type: string
  /** Its section, to stand in the place of ours. */
  readonly section: JsonObject
}

/**
 * Reads `ipam.fallback`; undefined when there is none.
 *
 * @throws Problem IPK_CONFIG_INVALID (7) for a wrong type, and for a name that is missing, is our own, or could lead out
 *   of the folders of CNI_PATH
 */
export function readFallback(config: JsonObject): Fallback | undefined {
  const ipam = objectField(config, 'ipam')
  const section = ipam && objectField(ipam, 'fallback', 'ipam.fallback')
  if (!section) return undefined
  const type = stringField(section, 'type', 'ipam.fallback.type') ?? ''
  // The name becomes a part of a path (cni:pkg/invoke/find.go refuses separators, too).
  if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$/.test(type)) {
    const what = type === '' ? 'is missing' : `"${type}" is no name of a plugin`
    throw new Problem('IPK_CONFIG_INVALID', `"ipam.fallback.type" ${what}`, {
      hint: 'name an IPAM plugin, such as "ipam": { ..., "fallback": { "type": "host-local", "ranges": [...] } }',
    })
  }
  if (type === 'ipkeeper') {
    throw new Problem('IPK_CONFIG_INVALID', '"ipam.fallback.type" cannot be ipkeeper itself')
  }
  return { type, section }
}

/** What the fallback gets on stdin: the whole configuration, with its section as `ipam` (cni-protocol H5). */
export function fallbackConfig(config: JsonObject, { section }: Fallback): JsonObject {
  return withField(config, 'ipam', section)
}

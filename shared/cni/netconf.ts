import {
  field,
  isJsonObject,
  jsonTypeName,
  numberField,
  objectField,
  stringField,
  type JsonObject,
} from '../json/fold.ts'
import { JsonSyntaxError, parseJson } from '../json/parse-json.ts'
import { defaultPaths } from '../paths.ts'
import { Problem } from '../problem/problem.ts'
import type { Environment } from './environment.ts'
import { networkNameFault } from './identifiers.ts'

/**
 * Decodes what came on stdin.
 *
 * @throws Problem IPK_CONFIG_UNDECODABLE (CNI code 6) that names line and column, or what it is instead of an object
 */
export function decodeNetworkConfig(text: string): JsonObject {
  let config: unknown
  try {
    config = parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error
    throw new Problem('IPK_CONFIG_UNDECODABLE', `error unmarshall network config: ${error.message}`, {
      cause: error,
    })
  }
  // Go decodes null into an empty struct; its name is missing then, which is the next error (row C3).
  if (config === null) return {}
  if (isJsonObject(config)) return config
  const message = `error unmarshall network config: it must be an object, not ${jsonTypeName(config)}`
  throw new Problem('IPK_CONFIG_UNDECODABLE', message)
}

/** The network's name. Throws IPK_CONFIG_UNDECODABLE (6) when it is no string, IPK_NETWORK_NAME (7) when not valid. */
export function networkName(config: JsonObject): string {
  const name = field(config, 'name') ?? ''
  if (typeof name !== 'string') {
    const message = `error unmarshall network config: "name" must be a string, not ${jsonTypeName(name)}`
    throw new Problem('IPK_CONFIG_UNDECODABLE', message)
  }
  const fault = networkNameFault(name)
  if (fault) throw new Problem('IPK_NETWORK_NAME', fault.message, { details: fault.details })
  return name
}

/** cniVersion as it is spelt, '' when absent. Throws IPK_CONFIG_UNDECODABLE (6) when it is no string (row C4). */
export function configVersion(config: JsonObject): string {
  const version = field(config, 'cniVersion')
  if (version === undefined) return ''
  if (typeof version === 'string') return version
  const message = `decoding version from network config: "cniVersion" must be a string, not ${jsonTypeName(version)}`
  throw new Problem('IPK_CONFIG_UNDECODABLE', message)
}

/** Where the daemon is and how long to wait for it. */
export interface PluginSettings {
  /** Path of the daemon's unix socket. */
  readonly socket: string
  /** The state folder that plugin and daemon must share. */
  readonly stateDir: string
  /** Seconds that an ADD may take as a whole. */
  readonly timeoutSeconds: number
}

const defaultTimeoutSeconds = 60
const longestTimeoutSeconds = 86_400

/**
 * Reads each setting from `ipam`, else from the netconf itself, else from the environment, else the default; an empty
 * text counts as absent.
 *
 * @throws Problem IPK_CONFIG_INVALID (7) for a wrong type, a relative path or a timeout that is not positive
 */
export function pluginSettings(config: JsonObject, env: Environment): PluginSettings {
  const ipam = objectField(config, 'ipam') ?? {}
  const path = (key: string, variable: string, standard: string): string => {
    const candidates: readonly [string, string | undefined][] = [
      [`ipam.${key}`, stringField(ipam, key, `ipam.${key}`)],
      [key, stringField(config, key)],
      [variable, env[variable]],
    ]
    for (const [source, value] of candidates) {
      if (value === undefined || value === '') continue
      if (value.startsWith('/')) return value
      throw new Problem('IPK_CONFIG_INVALID', `"${source}" must be an absolute path, not "${value}"`)
    }
    return standard
  }
  const [source, timeoutSeconds] = timeout(config, ipam)
  if (!(timeoutSeconds > 0 && timeoutSeconds <= longestTimeoutSeconds)) {
    const wanted = `between 0 and ${longestTimeoutSeconds} seconds`
    throw new Problem('IPK_CONFIG_INVALID', `"${source}" must be ${wanted}, not ${timeoutSeconds}`)
  }
  return {
    socket: path('socket', 'IPKEEPER_SOCKET', defaultPaths.socket),
    stateDir: path('stateDir', 'IPKEEPER_STATE_DIR', defaultPaths.stateDir),
    timeoutSeconds,
  }
}

function timeout(config: JsonObject, ipam: JsonObject): [source: string, seconds: number] {
  const inner = numberField(ipam, 'timeout', 'ipam.timeout')
  if (inner !== undefined) return ['ipam.timeout', inner]
  return ['timeout', numberField(config, 'timeout') ?? defaultTimeoutSeconds]
}

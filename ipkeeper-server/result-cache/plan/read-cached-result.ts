import { containerIdFault, interfaceNameFault, networkNameFault } from '../../../shared/cni/identifiers.ts'
import { readNomadArgs } from '../../../shared/cni/nomad-args.ts'
import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { formatAddress, parseAddress } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { allocationName } from '../../ipam/records/allocation.ts'
import type { AttachmentKey } from '../../ipam/records/records.ts'
import { listIn, objectIn, textIn } from '../../../shared/json/object-fields.ts'
import { pluginSettings } from '../../../shared/cni/netconf.ts'
import { usesIpkeeper } from '../../diagnose/lint/uses-ipkeeper.ts'

/** What a runtime keeps of one ADD, as far as it says whose an address is. */
export interface CachedAttachment extends AttachmentKey {
  /** Canonical. */
  readonly addresses: readonly string[]
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string | null } | null
  /** Path of the namespace; null where it is not said. */
  readonly netns: string | null
  readonly mac: string | null
}

/** "10.22.0.5/16" and "10.22.0.5" to "10.22.0.5". */
function addressIn(text: unknown): string[] {
  const address = typeof text === 'string' ? parseAddress(text.split('/')[0] ?? '') : undefined
  return address ? [formatAddress(address)] : []
}

/** Addresses of a Result in whatever version: `ips`, or `ip4` and `ip6` before 0.3.0. */
function addressesOf(result: JsonObject): string[] {
  return [
    ...listIn(result, 'ips').flatMap(ip => (isJsonObject(ip) ? addressIn(ip['address']) : [])),
    ...['ip4', 'ip6'].flatMap(family => addressIn(objectIn(result, family)['ip'])),
  ]
}

/**
 * A file of libcni's cache (libcni/api.go, cacheAdd): network, container, interface, CNI_ARGS and Result; newer ones have
 * the namespace as well, which the Result's interfaces name anyhow. undefined for anything else.
 */
export function readCachedResult(text: string): CachedAttachment | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(value) || value['kind'] !== 'cniCacheV1') return undefined
  const [network = '', containerId = '', ifname = ''] = ['networkName', 'containerId', 'ifName'].map(key =>
    textIn(value, key),
  )
  if (networkNameFault(network) ?? containerIdFault(containerId) ?? interfaceNameFault(ifname))
    return undefined
  const args = new Map(
    listIn(value, 'cniArgs').flatMap(pair =>
      Array.isArray(pair) && pair.length === 2 ? [[String(pair[0]), String(pair[1])] as const] : [],
    ),
  )
  const [namespace, name, uid] = ['K8S_POD_NAMESPACE', 'K8S_POD_NAME', 'K8S_POD_UID'].map(key =>
    args.get(key),
  )
  const result = objectIn(value, 'result')
  const own = listIn(result, 'interfaces')
    .filter(isJsonObject)
    .find(link => textIn(link, 'name') === ifname && textIn(link, 'sandbox') !== '')
  const [mac, sandbox] = own ? [textIn(own, 'mac'), textIn(own, 'sandbox')] : ['', '']
  const netns = textIn(value, 'netns') || sandbox
  return {
    ...{ network, containerId, ifname },
    addresses: addressesOf(result),
    pod:
      namespace && name
        ? { namespace, name, uid: uid === undefined || uid === '' ? null : uid }
        : allocationIn(args, containerId),
    netns: netns === '' ? null : netns,
    mac: mac === '' ? null : mac.toLowerCase(),
  }
}

/** The allocation that Nomad's arguments name, as invocation.ts reads them of an ADD; null where they name none. */
function allocationIn(args: ReadonlyMap<string, string>, containerId: string): CachedAttachment['pod'] {
  const pairs = new Map(Array.from(args, ([key, value]) => [key, [value]]))
  const nomad = readNomadArgs(pairs, false)
  if (nomad === undefined || nomad instanceof Problem || nomad.id !== containerId) return null
  return { namespace: nomad.namespace, name: allocationName(nomad), uid: null }
}

/** A result of an ADD that ipkeeper had a part in. */
export interface OwnResult extends CachedAttachment {
  /** State folders that the plugin used. */
  readonly stateDirs: readonly string[]
  /** Those parts of its network that are ipkeeper's. */
  readonly configs: readonly JsonObject[]
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
    const configs = [...ownConfigs(network)]
    const stateDirs = configs.flatMap(one => stateDirOf(one, told))
    return stateDirs.length > 0 ? { ...cached, stateDirs, configs } : undefined
  } catch {
    return undefined
  }
}

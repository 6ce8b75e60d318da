import { isJsonObject, type JsonObject } from '../../../../shared/json/fold.ts'
import type { LoadedNetwork } from '../../../diagnose/lint/loaded-networks.ts'
import { textIn } from '../../../../shared/json/object-fields.ts'

/** IPAM plugins whose ranges stand in the keys of host-local. */
const readable = ['host-local', 'ipkeeper']

export interface NetworkRanges {
  /** Configurations with name, version and the "ipam" that has the ranges. */
  readonly configs: readonly JsonObject[]
  /** Where host-local keeps the reservations of a network, where its configuration says so. */
  readonly dataDirs: ReadonlyMap<string, string>
}

/**
 * What network configurations say of their ranges. A network's pool is made of it as by its first ADD; keys that are not
 * host-local's, as those of a runtime's capabilities, are left out.
 */
export function networkRanges(networks: readonly LoadedNetwork[]): NetworkRanges {
  const configs: JsonObject[] = []
  const dataDirs = new Map<string, string>()
  for (const { name, cniVersion, plugins } of networks) {
    const ipam = plugins
      .map(plugin => plugin['ipam'])
      .find(part => isJsonObject(part) && readable.includes(textIn(part, 'type')))
    if (!isJsonObject(ipam) || name === '') continue
    const dataDir = textIn(ipam, 'dataDir')
    if (dataDir !== '' && !dataDirs.has(name)) dataDirs.set(name, dataDir)
    if (ipam['subnet'] !== undefined || ipam['ranges'] !== undefined)
      configs.push({ cniVersion: cniVersion ?? '1.0.0', name, ipam: { ...ipam, type: 'ipkeeper' } })
  }
  return { configs, dataDirs }
}

/** A configuration of ranges that a person gave: each CIDR is a range set. */
export function givenRanges(name: string, subnets: readonly string[], segment: string): JsonObject {
  return {
    cniVersion: '1.0.0',
    name,
    ipam: {
      type: 'ipkeeper',
      ranges: subnets.map(subnet => [{ subnet }]),
      ...(segment !== 'default' && { segment }),
    },
  }
}

import { encodeResult, type CniResult, type ResultInterface } from '../../../shared/cni/result.ts'
import type { CniVersion } from '../../../shared/cni/versions.ts'
import { isAllocation } from '../../ipam/records/allocation.ts'
import type { AttachmentRecord, LeaseRecord } from '../../ipam/records/records.ts'
import type { LoadedNetwork } from '../../diagnose/lint/loaded-networks.ts'
import { usesIpkeeper } from '../../diagnose/lint/uses-ipkeeper.ts'

/** A network as a runtime would load it. */
interface WholeConflist {
  readonly name: string
  readonly cniVersion: CniVersion
  /** As libcni has them in its cache, in base64. */
  readonly base64: string
}

/** What an attachment's ADD gave, as far as our records say it. */
export interface AttachmentRecords {
  readonly attachment: AttachmentRecord
  readonly leases: readonly LeaseRecord[]
  /** MAC of the bridge that the pod is a port of; undefined where there is none, or nobody knows. */
  readonly bridgeMac: string | undefined
}

/** The interfaces of the main role, in the order of its Result (network/plan/plan-wiring.ts). */
function interfacesOf({ attachment, bridgeMac }: AttachmentRecords): ResultInterface[] {
  const { wiring, ifname, netns } = attachment
  const sandbox = netns === '' ? {} : { sandbox: netns }
  if (!wiring) return [{ name: ifname, ...sandbox }]
  const { master, mode, hostLink, mtu, mac } = wiring
  const bridge = master !== null && (mode === 'bridge' || mode === 'underlay')
  return [
    ...(bridge ? [{ name: master, ...(bridgeMac !== undefined && { mac: bridgeMac }) }] : []),
    ...(hostLink ? [{ ...hostLink, mtu }] : []),
    { name: ifname, mac, mtu, ...sandbox },
  ]
}

/** The Result of an attachment, made from its records: in the IPAM role without what the parent plugin added. */
function resultOf(records: AttachmentRecords): CniResult {
  const { attachment, leases } = records
  const interfaces = interfacesOf(records)
  const index = interfaces.length - 1
  const ips =
    attachment.given?.map(address => ({ address, interface: index })) ??
    leases.map(({ address, prefixLength, gateway }) => ({
      address: `${address}/${prefixLength}`,
      gateway,
      interface: index,
    }))
  return { interfaces, ips, routes: attachment.wiring?.routes ?? [], dns: {} }
}

/** What containerd and CRI-O put into CNI_ARGS; nothing for a container without a pod, nor for Nomad, which passes none at DEL. */
function cniArgs({ holder, containerId, podUid }: AttachmentRecord): readonly (readonly [string, string])[] {
  if (holder.kind !== 'pod' || isAllocation(holder)) return []
  return [
    ['IgnoreUnknown', '1'],
    ['K8S_POD_NAMESPACE', holder.namespace],
    ['K8S_POD_NAME', holder.name],
    ['K8S_POD_INFRA_CONTAINER_ID', containerId],
    ...(podUid === null ? [] : ([['K8S_POD_UID', podUid]] as const)),
  ]
}

/**
 * What libcni keeps of an attachment (kind cniCacheV1; libcni/api.go, cacheAdd), made anew from our records. Capability
 * arguments are not known; a runtime gives those of its own at DEL.
 */
export function cachedResult(records: AttachmentRecords, conflist: WholeConflist): string {
  const { attachment } = records
  const args = cniArgs(attachment)
  return JSON.stringify({
    kind: 'cniCacheV1',
    containerId: attachment.containerId,
    config: conflist.base64,
    ifName: attachment.ifname,
    networkName: attachment.network,
    ...(attachment.netns !== '' && { netns: attachment.netns }),
    ...(args.length > 0 && { cniArgs: args }),
    result: encodeResult(resultOf(records), conflist.cniVersion),
  })
}

export interface KnownNetwork {
  /** Whether a plugin of it is ipkeeper, or has its addresses from it. */
  readonly usesIpkeeper: boolean
  /** undefined where no Result can be written in its version. */
  readonly conflist: WholeConflist | undefined
}

/** Networks by their names; of two files with one name the first one counts, as it does for runtimes. */
export function knownNetworks(loaded: readonly LoadedNetwork[]): ReadonlyMap<string, KnownNetwork> {
  const networks = new Map<string, KnownNetwork>()
  for (const { name, cniVersion, plugins, list } of loaded) {
    if (name === '' || networks.has(name)) continue
    const conflist = cniVersion && { name, cniVersion, base64: Buffer.from(list).toString('base64') }
    networks.set(name, { usesIpkeeper: plugins.some(usesIpkeeper), conflist })
  }
  return networks
}

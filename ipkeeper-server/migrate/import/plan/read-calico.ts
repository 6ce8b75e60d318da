import { isJsonObject } from '../../../../shared/json/fold.ts'
import { formatAddress } from '../../../../shared/net/address.ts'
import { firstOf, parseCidr } from '../../../../shared/net/cidr.ts'
import { bareAllocation, type Findings, type SourceAllocation, type Unreadable } from './findings.ts'
import { listIn, objectIn, textIn } from '../../../../shared/json/object-fields.ts'
import type { ReadObject } from './read-object.ts'

/** "k8s-pod-network.3f2a..." has the network and the container ID; neither has a dot. */
function readHandle(handle: string): { network: string; containerId: string } | undefined {
  const dot = handle.lastIndexOf('.')
  const [network, containerId] = [handle.slice(0, Math.max(dot, 0)), handle.slice(dot + 1)]
  return network !== '' && /^[0-9a-f]{12,64}$/.test(containerId) ? { network, containerId } : undefined
}

/**
 * An IPAMBlock has for each of its addresses the index of an attribute, or null (calico: libcalico-go/lib/backend/model/block.go).
 * Attributes name the handle, and in `secondary` pod, namespace and node.
 */
function readBlock({ origin, spec }: ReadObject): Findings {
  const unreadable: Unreadable[] = []
  const cidr = parseCidr(textIn(spec, 'cidr'))
  if (!cidr) {
    const why = `its cidr "${textIn(spec, 'cidr')}" is none`
    return { allocations: [], unreadable: [{ origin, address: null, why }] }
  }
  const attributes = listIn(spec, 'attributes')
  const first = firstOf(cidr)
  const allocations = listIn(spec, 'allocations').flatMap((entry, ordinal): SourceAllocation[] => {
    if (entry === null || entry === undefined) return []
    const address = formatAddress({ family: first.family, value: first.value + BigInt(ordinal) })
    const attribute = typeof entry === 'number' ? attributes[entry] : undefined
    if (!isJsonObject(attribute)) {
      unreadable.push({ origin, address, why: 'its holder is not known' })
      return []
    }
    const secondary = objectIn(attribute, 'secondary')
    const handle = readHandle(textIn(attribute, 'handle_id'))
    const [namespace, name, node] = ['namespace', 'pod', 'node'].map(key => textIn(secondary, key))
    const since = Date.parse(textIn(secondary, 'timestamp'))
    // Of a node itself, for its tunnels ("type"): it goes when calico does.
    if (!name && textIn(secondary, 'type') !== '') return []
    return [
      {
        ...bareAllocation(`${origin} [${ordinal}]`, address),
        network: handle?.network ?? null,
        containerId: handle?.containerId ?? null,
        pod: namespace && name ? { namespace, name, uid: null } : null,
        node: node || null,
        since: Number.isNaN(since) ? null : since,
      },
    ]
  })
  return { allocations, unreadable }
}

/** What a WorkloadEndpoint adds to the allocations of its addresses: the interface in the pod, and its MAC address. */
interface Endpoint {
  readonly containerId: string
  readonly ifname: string
  readonly mac: string
}

function endpointsByAddress(objects: readonly ReadObject[]): ReadonlyMap<string, Endpoint> {
  return new Map(
    objects
      .filter(({ kind }) => kind === 'WorkloadEndpoint')
      .flatMap(({ spec }) => {
        const [containerId, ifname, mac] = ['containerID', 'endpoint', 'mac'].map(key => textIn(spec, key))
        return listIn(spec, 'ipNetworks').flatMap((network): [string, Endpoint][] => {
          const cidr = typeof network === 'string' ? parseCidr(network) : undefined
          return cidr
            ? [
                [
                  formatAddress(cidr.address),
                  { containerId: containerId ?? '', ifname: ifname ?? '', mac: mac ?? '' },
                ],
              ]
            : []
        })
      }),
  )
}

/** Allocations of IPAMBlocks, with what WorkloadEndpoints add. */
export function readCalico(objects: readonly ReadObject[]): Findings {
  const endpoints = endpointsByAddress(objects)
  const blocks = objects.filter(({ kind }) => kind === 'IPAMBlock').map(readBlock)
  return {
    allocations: blocks
      .flatMap(({ allocations }) => allocations)
      .map(one => {
        const endpoint = endpoints.get(one.address)
        if (!endpoint) return one
        const { containerId, ifname, mac } = endpoint
        if (one.containerId !== null && containerId !== '' && one.containerId !== containerId) return one
        return {
          ...one,
          containerId: one.containerId ?? (containerId || null),
          ifname: ifname || null,
          mac: mac === '' ? null : mac.toLowerCase(),
        }
      }),
    unreadable: blocks.flatMap(({ unreadable }) => unreadable),
  }
}

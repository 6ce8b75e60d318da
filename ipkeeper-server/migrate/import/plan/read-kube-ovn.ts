import { formatAddress, parseAddress } from '../../../../shared/net/address.ts'
import { bareAllocation, type Findings, type SourceAllocation, type Unreadable } from './findings.ts'
import { textIn } from '../../../../shared/json/object-fields.ts'
import type { ReadObject } from './read-object.ts'

/** Workloads whose pods have their addresses back under their names; its own words are "StatefulSet" and "VirtualMachine". */
const keepers = ['StatefulSet', 'VirtualMachine']

/**
 * One IP object is one interface of a pod, with an address of each family (kube-ovn: pkg/apis/kubeovn/v1/ip.go). Its name is
 * "POD.NAMESPACE" for the first interface and has the provider after it for others, whose name in the pod nothing tells. It stays
 * while the pod of a StatefulSet is away. Objects without a pod are those of nodes.
 */
function readIp({ origin, name, spec, createdAt }: ReadObject): Findings {
  const unreadable: Unreadable[] = []
  const [podName, namespace, node] = ['podName', 'namespace', 'nodeName'].map(key => textIn(spec, key))
  if (!podName || !namespace) return { allocations: [], unreadable }
  const first = name === `${podName}.${namespace}`
  const [containerId, mac] = ['containerID', 'macAddress'].map(key => textIn(spec, key))
  const texts = ['v4IpAddress', 'v6IpAddress'].map(key => textIn(spec, key)).filter(text => text !== '')
  const told =
    texts.length > 0
      ? texts
      : textIn(spec, 'ipAddress')
          .split(',')
          .filter(text => text !== '')
  const allocations = told.flatMap((text): SourceAllocation[] => {
    const address = parseAddress(text.trim())
    if (!address) {
      unreadable.push({ origin, address: null, why: `"${text}" is no address` })
      return []
    }
    return [
      {
        ...bareAllocation(origin, formatAddress(address)),
        containerId: containerId || null,
        ifname: first ? 'eth0' : null,
        pod: { namespace, name: podName, uid: null },
        node: node || null,
        mac: mac ? mac.toLowerCase() : null,
        since: createdAt,
        keeps: keepers.includes(textIn(spec, 'podType')),
      },
    ]
  })
  return { allocations, unreadable }
}

/** Allocations of `ips.kubeovn.io`. */
export function readKubeOvn(objects: readonly ReadObject[]): Findings {
  const ips = objects.filter(({ kind }) => kind === 'IP').map(readIp)
  return {
    allocations: ips.flatMap(({ allocations }) => allocations),
    unreadable: ips.flatMap(({ unreadable }) => unreadable),
  }
}

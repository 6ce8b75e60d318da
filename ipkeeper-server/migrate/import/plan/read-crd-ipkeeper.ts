import { isJsonObject } from '../../../../shared/json/fold.ts'
import { formatAddress, parseAddress } from '../../../../shared/net/address.ts'
import { bareAllocation, type Findings, type SourceAllocation, type Unreadable } from './findings.ts'
import { objectIn, textIn } from '../../../../shared/json/object-fields.ts'
import type { ReadObject } from './read-object.ts'

/**
 * A StaticIP has the addresses of one workload, each with the pod that has it or null (crd-ipkeeper:
 * pkg/apis/ipkeeper/v1/types.go, `ipmap`). The workload keeps them; addresses that no pod has are for the annotation that the
 * object was made from.
 */
function readStaticIp({ origin, namespace: own, spec, createdAt }: ReadObject): Findings {
  const unreadable: Unreadable[] = []
  const allocations = Object.entries(objectIn(spec, 'ipmap')).flatMap(([text, pod]): SourceAllocation[] => {
    if (pod === null) return []
    const address = parseAddress(text.split('/')[0] ?? '')
    const name = isJsonObject(pod) ? textIn(pod, 'name') : ''
    if (!address || !isJsonObject(pod) || name === '') {
      const why = address ? 'it names no pod' : `"${text}" is no address`
      unreadable.push({ origin, address: address ? formatAddress(address) : null, why })
      return []
    }
    const namespace = textIn(pod, 'namespace') || textIn(spec, 'namespace') || own
    const uid = textIn(pod, 'uid')
    return [
      {
        ...bareAllocation(origin, formatAddress(address)),
        ifname: 'eth0',
        pod: { namespace, name, uid: uid === '' ? null : uid },
        since: createdAt,
        keeps: true,
      },
    ]
  })
  return { allocations, unreadable }
}

/** Allocations of `staticips.ipkeeper.generals.space`. */
export function readCrdIpkeeper(objects: readonly ReadObject[]): Findings {
  const found = objects.filter(({ kind }) => kind === 'StaticIP').map(readStaticIp)
  return {
    allocations: found.flatMap(({ allocations }) => allocations),
    unreadable: found.flatMap(({ unreadable }) => unreadable),
  }
}

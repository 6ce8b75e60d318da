import { incarnationOf } from '../ipam/records/records.ts'
import { parseAddress } from '../../shared/net/address.ts'
import type { NodeSnapshot } from './plan-snapshot.ts'
import { aboutAttachment, describeAttachment, type Suspicion } from './plan-suspicion.ts'

/** Pods whose address the node got later on. Only a person can say which of the two is to have it. */
export function suspectOwnAddresses({ attachments, own }: NodeSnapshot): readonly Suspicion[] {
  if (!own) return []
  return attachments.flatMap(({ record, leases, death }) => {
    const taken = leases.flatMap(({ address }) => {
      const parsed = parseAddress(address)
      const found = parsed && own.find(parsed)
      return found ? [{ address, ...found }] : []
    })
    const [first] = taken
    if (death !== undefined || !first) return []
    const links = [...new Set(taken.map(({ link }) => link))].join(', ')
    return [
      {
        kind: 'address-on-node',
        key: `own addresses ${incarnationOf(record)}`,
        says: `${describeAttachment(record)} has ${taken.map(({ address }) => address).join(', ')}, which the node has as well, on link ${links}`,
        why: 'the node keeps what is sent to it, so the pod is not reached',
        remedy: `where the node is not to have it: ip address delete ${first.cidr} dev ${first.link}; else give the pod another address`,
        about: aboutAttachment(record, leases),
        action: { kind: 'none' },
        certainty: { by: 'proof' },
      } as const,
    ]
  })
}

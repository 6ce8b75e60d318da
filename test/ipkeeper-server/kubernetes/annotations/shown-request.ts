import { formatCandidates } from '../../../../ipkeeper-server/ipam/request/candidates.ts'
import type { PodRequest } from '../../../../ipkeeper-server/ipam/request/request.ts'
import { formatRetention } from '../../../../ipkeeper-server/ipam/records/retention.ts'
import { formatAddress } from '../../../../shared/net/address.ts'

/** A request as a table writes it; what it does not ask for is absent. */
export interface ShownRequest {
  readonly ip?: readonly string[]
  readonly ips?: readonly string[]
  readonly pool?: readonly string[]
  readonly gateway?: readonly string[]
  readonly retain?: string
  readonly mac?: string
}

/** A request, or a part of one, without its sources. */
export function showRequest(request: Partial<PodRequest>): ShownRequest {
  const { addresses = [], candidates = [], pools = [], gateways = [], retain, mac } = request
  return {
    ...(addresses.length > 0 && {
      ip: addresses.map(
        ({ address, prefixLength }) =>
          formatAddress(address) + (prefixLength === undefined ? '' : `/${prefixLength}`),
      ),
    }),
    ...(candidates.length > 0 && { ips: candidates.map(formatCandidates) }),
    ...(pools.length > 0 && { pool: pools.map(({ name }) => name) }),
    ...(gateways.length > 0 && { gateway: gateways.map(({ address }) => formatAddress(address)) }),
    ...(retain !== undefined && { retain: formatRetention(retain) }),
    ...(mac !== undefined && { mac }),
  }
}

/** Every source that a request names, once. */
export function sourcesOf({ addresses, candidates, pools, gateways }: PodRequest): readonly string[] {
  return [...new Set([...addresses, ...candidates, ...pools, ...gateways].map(({ source }) => source))]
}

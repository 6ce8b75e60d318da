import type { ResultAddress } from '../../../shared/cni/result.ts'

/** The gateways of a pod's addresses with the prefix of their subnets, each once: "10.22.0.1/16". */
export function gatewayCidrs(ips: readonly ResultAddress[]): string[] {
  const all = ips.flatMap(({ address, gateway }) =>
    gateway === undefined ? [] : [`${gateway}/${address.slice(address.indexOf('/') + 1)}`],
  )
  return [...new Set(all)]
}

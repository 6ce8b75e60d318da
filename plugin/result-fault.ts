import type { AddResult } from '../shared/api/cni.schema.ts'
import type { CniVersion } from '../shared/cni/versions.ts'
import { valueFault } from './result-values.ts'

/**
 * What is wrong with a Result for a configuration of a version; undefined when nothing is. Runtimes do not see the
 * addresses of another version's shape (cni-protocol 1.E), take a Result of none, and stumble over values that are no
 * addresses only after they have taken it for a success.
 */
export function resultFault(result: AddResult, cniVersion: CniVersion): string | undefined {
  const versions = `a result of version "${result.cniVersion}" for a configuration of version "${cniVersion}"`
  if (result.cniVersion !== cniVersion) return versions
  const byFamily = cniVersion === '0.1.0' || cniVersion === '0.2.0'
  const { ips, ip4, ip6 } = result
  if (byFamily ? ips !== undefined : ip4 !== undefined || ip6 !== undefined)
    return `${versions}, in the shape of another version`
  const hasAddress = byFamily ? (ip4 ?? ip6) !== undefined : (ips?.length ?? 0) > 0
  if (!hasAddress) return 'a result without an address'
  const fault = valueFault(result)
  return fault === undefined ? undefined : `a result whose ${fault}`
}

/** The addresses of a Result in either of its shapes, as it spells them; none of any other document. */
export function addressesOf({ ips = [], ip4, ip6 }: Partial<AddResult>): string[] {
  return [...ips.map(ip => ip.address), ...[ip4, ip6].flatMap(family => family?.ip ?? [])]
}

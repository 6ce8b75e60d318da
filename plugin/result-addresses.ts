import type { AddResult } from '../shared/api/cni.schema.ts'

/** The addresses of a Result in either of its shapes, as it spells them; none of any other document. */
export function addressesOf({ ips = [], ip4, ip6 }: Partial<AddResult>): string[] {
  return [...ips.map(ip => ip.address), ...[ip4, ip6].flatMap(family => family?.ip ?? [])]
}

import { formatAddress } from '../../../../shared/net/address.ts'
import { cidrContains, formatCidr } from '../../../../shared/net/cidr.ts'
import { valueOf } from '../json/json-node.ts'
import { allRanges, withoutHostBits } from '../ranges.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

export const rangeBounds: LintRule = {
  id: 'range-bounds',
  severity: 'error',
  summary: 'A `rangeStart` or `rangeEnd` outside of the subnet, or a start above the end. Each ADD fails.',
  *check(site) {
    for (const { subnet, rangeStart, rangeEnd, node, section } of allRanges(site)) {
      if (!subnet) continue
      const network = withoutHostBits(subnet)
      const { document } = section.entry.network
      let outside = false
      for (const [key, address] of [
        ['rangeStart', rangeStart],
        ['rangeEnd', rangeEnd],
      ] as const) {
        const at = valueOf(node, key)
        if (!address || !at || cidrContains(network, address)) continue
        outside = true
        yield {
          at: spotOf(document, at),
          message: `${JSON.stringify(key)} ${formatAddress(address)} is not in the subnet ${formatCidr(network)}`,
          remedy: 'name an address of the subnet, or leave it out',
        }
      }
      const at = valueOf(node, 'rangeStart')
      if (outside || !at || !rangeStart || !rangeEnd || rangeStart.value <= rangeEnd.value) continue
      yield {
        at: spotOf(document, at),
        message: `"rangeStart" ${formatAddress(rangeStart)} is above "rangeEnd" ${formatAddress(rangeEnd)}`,
        remedy: 'exchange the two',
      }
    }
  },
}

import { formatCidr, parseCidr } from '../../../../shared/net/cidr.ts'
import { textOf, valueOf } from '../json/json-node.ts'
import { allRanges, hasRanges, ipamSections, withoutHostBits } from '../ranges.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

export const hostBits: LintRule = {
  id: 'host-bits',
  severity: 'error',
  summary:
    'A subnet with bits of a host, such as `10.22.0.5/16`. ipkeeper refuses it, and `host-local` since 0.7. In the destination of a route it is a warning.',
  *check(site) {
    for (const { subnet, subnetNode, section } of allRanges(site)) {
      if (!subnet) continue
      const network = withoutHostBits(subnet)
      if (network.address.value === subnet.address.value) continue
      yield {
        at: spotOf(section.entry.network.document, subnetNode),
        message: `${formatCidr(subnet)} has host bits: ${section.type} refuses it`,
        remedy: `write "${formatCidr(network)}"`,
      }
    }
    for (const section of ipamSections(site)) {
      if (!hasRanges(section) && section.type !== 'static') continue
      for (const route of valueOf(section.node, 'routes')?.items ?? []) {
        const node = valueOf(route, 'dst')
        const cidr = parseCidr(textOf(route, 'dst') ?? '')
        if (!node || !cidr) continue
        const network = withoutHostBits(cidr)
        if (network.address.value === cidr.address.value) continue
        yield {
          at: spotOf(section.entry.network.document, node),
          message: `the destination ${formatCidr(cidr)} has host bits`,
          remedy: `write "${formatCidr(network)}"`,
          severity: 'warning',
        }
      }
    }
  },
}

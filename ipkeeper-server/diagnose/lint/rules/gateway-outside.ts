import { formatAddress } from '../../../../shared/net/address.ts'
import { cidrContains, firstOf, formatCidr, lastOf } from '../../../../shared/net/cidr.ts'
import { valueOf } from '../json/json-node.ts'
import { allRanges, withoutHostBits } from '../ranges.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

export const gatewayOutside: LintRule = {
  id: 'gateway-outside',
  severity: 'warning',
  summary:
    'A gateway that is not in its subnet, or is its network or broadcast address. Pods cannot reach it without a route; an error where it is of the other family.',
  *check(site) {
    for (const { subnet, gateway, node, section } of allRanges(site)) {
      const at = valueOf(node, 'gateway')
      if (!subnet || !gateway || !at) continue
      const network = withoutHostBits(subnet)
      const shown = formatAddress(gateway)
      const inside = cidrContains(network, gateway)
      const special =
        subnet.address.family === 4 &&
        inside &&
        (gateway.value === firstOf(network).value || gateway.value === lastOf(network).value)
      if (inside && !special) continue
      const foreign = gateway.family !== network.address.family
      yield {
        at: spotOf(section.entry.network.document, at),
        message: special
          ? `the gateway ${shown} is the network or broadcast address of ${formatCidr(network)}`
          : `the gateway ${shown} is not in the subnet ${formatCidr(network)}`,
        remedy: 'name a router of the subnet, or leave "gateway" out: then it is the first address',
        ...(foreign && { severity: 'error' }),
      }
    }
  },
}

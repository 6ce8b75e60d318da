import { formatAddress } from '../../../../shared/net/address.ts'
import { cidrContains, firstOf, formatCidr, lastOf, parseCidr } from '../../../../shared/net/cidr.ts'
import { textField, valueOf } from '../json/json-node.ts'
import { allRanges, hasRanges, ipamSections, withoutHostBits } from '../ranges.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf } from '../site.ts'

export const hostBits: LintRule = {
  id: 'host-bits',
  severity: 'error',
  summary:
    'A subnet with host bits set, such as `10.22.0.5/16`. ipkeeper refuses it, and `host-local` since 0.7. In the destination of a route it is a warning.',
  *check(site) {
    for (const { subnet, subnetNode, section } of allRanges(site)) {
      if (!subnet) continue
      const network = withoutHostBits(subnet)
      if (network.address.value === subnet.address.value) continue
      yield {
        at: spotOf(section.entry.network.document, subnetNode),
        message: `${formatCidr(subnet)} has host bits set: ${section.type} refuses it`,
        remedy: `write "${formatCidr(network)}"`,
      }
    }
    for (const section of ipamSections(site)) {
      if (!hasRanges(section) && section.type !== 'static') continue
      for (const route of valueOf(section.node, 'routes')?.items ?? []) {
        const node = valueOf(route, 'dst')
        const cidr = parseCidr(textField(route, 'dst') ?? '')
        if (!node || !cidr) continue
        const network = withoutHostBits(cidr)
        if (network.address.value === cidr.address.value) continue
        yield {
          at: spotOf(section.entry.network.document, node),
          message: `the destination ${formatCidr(cidr)} has host bits set`,
          remedy: `write "${formatCidr(network)}"`,
          severity: 'warning',
        }
      }
    }
  },
}

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
        remedy: 'write a router of the subnet, or remove "gateway": it is then the first address',
        ...(foreign && { severity: 'error' }),
      }
    }
  },
}

export const rangeBounds: LintRule = {
  id: 'range-bounds',
  severity: 'error',
  summary: 'A `rangeStart` or `rangeEnd` outside the subnet, or a start above the end. Each ADD fails.',
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
          remedy: 'write an address of the subnet, or remove the key',
        }
      }
      const at = valueOf(node, 'rangeStart')
      if (outside || !at || !rangeStart || !rangeEnd || rangeStart.value <= rangeEnd.value) continue
      yield {
        at: spotOf(document, at),
        message: `"rangeStart" ${formatAddress(rangeStart)} is above "rangeEnd" ${formatAddress(rangeEnd)}`,
        remedy: 'swap the two',
      }
    }
  },
}

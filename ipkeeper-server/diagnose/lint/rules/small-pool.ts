import { addressBits } from '../../../../shared/net/address.ts'
import { formatCidr } from '../../../../shared/net/cidr.ts'
import { allRanges, rangeSetsOf, ipamSections, withoutHostBits, type SeenRange } from '../ranges.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf } from '../site.ts'

/** Fewer, and a rollout or two have no room. */
const comfortable = 4n

const sizeOf = ({ range }: SeenRange): bigint | undefined =>
  range?.usable.reduce((sum, { first, last }) => sum + last - first + 1n, 0n)

/** Whether the range is sound apart from having nothing to give. */
function isEmpty({ subnet, rangeStart, rangeEnd, gateway, range }: SeenRange): boolean {
  if (!subnet || range || (gateway && gateway.family !== subnet.address.family)) return false
  const network = withoutHostBits(subnet)
  const bits = BigInt(addressBits[network.address.family] - network.prefixLength)
  const inside = (value: bigint): boolean => value >> bits === network.address.value >> bits
  if ((rangeStart && !inside(rangeStart.value)) || (rangeEnd && !inside(rangeEnd.value))) return false
  return !(rangeStart && rangeEnd && rangeStart.value > rangeEnd.value)
}

export const smallPool: LintRule = {
  id: 'small-pool',
  severity: 'warning',
  summary:
    'A range set with fewer than four addresses to assign; an error where it has none, as with a /31, /32, /127 or /128, all of which network, broadcast and gateway address use up.',
  *check(site) {
    for (const seen of allRanges(site)) {
      if (!seen.subnet || !isEmpty(seen)) continue
      const { prefixLength, address } = seen.subnet
      const tiny = prefixLength > addressBits[address.family] - 2
      yield {
        at: spotOf(seen.section.entry.network.document, seen.subnetNode),
        message: tiny
          ? `a /${prefixLength} is too small to assign addresses from`
          : `this range of ${formatCidr(withoutHostBits(seen.subnet))} has no address to assign`,
        remedy: tiny
          ? `use at least a /${addressBits[address.family] - 3}; routed links of one address need none of these plugins`
          : 'widen it: the network, broadcast and gateway address are never assigned',
        severity: 'error',
      }
    }
    for (const section of ipamSections(site)) {
      for (const set of rangeSetsOf(section)) {
        const sizes = set.map(sizeOf)
        const [first] = set
        if (!first || sizes.includes(undefined)) continue
        const size = sizes.reduce<bigint>((sum, part) => sum + (part ?? 0n), 0n)
        if (size >= comfortable) continue
        yield {
          at: spotOf(section.entry.network.document, first.subnetNode),
          message: `only ${size} ${size === 1n ? 'address' : 'addresses'} to assign in this range set`,
          remedy: 'widen it: a rollout needs addresses for old and new pods at the same time',
        }
      }
    }
  },
}

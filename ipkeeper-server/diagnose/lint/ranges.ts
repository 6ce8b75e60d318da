import { parseAddress, type Address } from '../../../shared/net/address.ts'
import { parseCidr, type Cidr } from '../../../shared/net/cidr.ts'
import { canonicalRange, type Range } from '../../ipam/pools/pool.ts'
import { textField, valueOf, type JsonNode } from './json/json-node.ts'
import type { PluginEntry, Site } from './site.ts'

/** A section that gives addresses: `ipam` of a plugin, or the fallback within it. */
export interface IpamSection {
  readonly entry: PluginEntry
  readonly node: JsonNode
  readonly type: string
}

/** A range of a section that has host-local's keys. What cannot be read is undefined, and left to invalid-address. */
export interface SeenRange {
  readonly section: IpamSection
  readonly node: JsonNode
  /** Of `subnet`. */
  readonly subnetNode: JsonNode
  readonly subnet: Cidr | undefined
  readonly rangeStart: Address | undefined
  readonly rangeEnd: Address | undefined
  readonly gateway: Address | undefined
  /** In canonical form, with no regard to host bits; undefined where the range makes no sense. */
  readonly range: Range | undefined
}

/** Every section that gives addresses. */
export function* ipamSections(site: Site): Iterable<IpamSection> {
  for (const entry of site.plugins) {
    const node = valueOf(entry.node, 'ipam')
    const type = textField(node, 'type')
    if (!node || type === undefined) continue
    yield { entry, node, type }
    const fallback = type === 'ipkeeper' ? valueOf(node, 'fallback') : undefined
    const other = textField(fallback, 'type')
    if (fallback && other !== undefined) yield { entry, node: fallback, type: other }
  }
}

/** Sections with host-local's keys. */
export const hasRanges = ({ type }: IpamSection): boolean => type === 'host-local' || type === 'ipkeeper'

function addressOf(node: JsonNode, key: string): Address | undefined {
  return parseAddress(textField(node, key) ?? '')
}

function seeRange(section: IpamSection, node: JsonNode): SeenRange[] {
  const subnetNode = valueOf(node, 'subnet')
  if (!subnetNode || typeof subnetNode.value !== 'string') return []
  const subnet = parseCidr(subnetNode.value)
  const [rangeStart, rangeEnd, gateway] = ['rangeStart', 'rangeEnd', 'gateway'].map(key =>
    addressOf(node, key),
  )
  const network = subnet && withoutHostBits(subnet)
  const range =
    network &&
    canonicalRange(
      {
        subnet: network,
        ...(rangeStart && { rangeStart }),
        ...(rangeEnd && { rangeEnd }),
        ...(gateway && { gateway }),
      },
      () => undefined,
    )
  return [{ section, node, subnetNode, subnet, rangeStart, rangeEnd, gateway, range }]
}

/** The network of an address with a prefix. */
export function withoutHostBits({ address, prefixLength }: Cidr): Cidr {
  const bits = BigInt((address.family === 4 ? 32 : 128) - prefixLength)
  return { address: { family: address.family, value: (address.value >> bits) << bits }, prefixLength }
}

/** Of one set, and sets of one section: more are no configuration. */
const mostRanges = 1000

/** Ranges of a section, set by set: that of the section itself, then those of `ranges`. */
export function rangeSetsOf(section: IpamSection): readonly (readonly SeenRange[])[] {
  if (!hasRanges(section)) return []
  const sets = valueOf(section.node, 'ranges')?.items.slice(0, mostRanges) ?? []
  return [
    seeRange(section, section.node),
    ...sets.map(set => set.items.slice(0, mostRanges).flatMap(node => seeRange(section, node))),
  ]
}

/** Every range of every section. */
export function* allRanges(site: Site): Iterable<SeenRange> {
  for (const section of ipamSections(site)) yield* rangeSetsOf(section).flat()
}

import {
  DnsSchema,
  IpamSchema,
  NetconfSchema,
  RangeSchema,
  RouteSchema,
} from '../../../shared/cni/netconf.schema.ts'
import { textField, valueOf, type JsonNode } from './json/json-node.ts'
import {
  commonKeys,
  hostLocalRangeKeys,
  ipkeeperClientKeys,
  kindsOf,
  listKeys,
  referencePlugin,
  type KeyTable,
} from './plugin-keys.ts'
import { hasRanges, ipamSections } from './ranges.ts'
import type { CniDocument, Site } from './site.ts'

/** An object whose keys are known, and to whom. */
export interface KeyedObject {
  readonly document: CniDocument
  readonly node: JsonNode
  /** Whose keys these are, for a message: "of host-local". */
  readonly whose: string
  readonly keys: readonly string[]
  /** What their values have to be; empty where another rule checks that. */
  readonly kinds: KeyTable
  /** `exact`: letter for letter. `folded`: in any case. `ours`: as folded, and a typing mistake is refused. */
  readonly spelling: 'exact' | 'folded' | 'ours'
}

const ours: KeyTable = {}
const dnsKeys = kindsOf(DnsSchema)
const routeKeys = kindsOf(RouteSchema)
const make = (
  document: CniDocument,
  node: JsonNode | undefined,
  whose: string,
  kinds: KeyTable,
  spelling: KeyedObject['spelling'] = 'folded',
  keys: readonly string[] = Object.keys(kinds),
): KeyedObject[] => (node?.kind === 'object' ? [{ document, node, whose, keys, kinds, spelling }] : [])

/** Every object of which it is known which keys it may have. Plugins of others are none. */
export function* keyedObjects(site: Site): Iterable<KeyedObject> {
  for (const { document, root, shape } of site.networks) {
    if (shape === 'list') yield* make(document, root, 'of a list', listKeys, 'exact')
  }
  for (const { node, type, network } of site.plugins) {
    const { document } = network
    yield* make(document, valueOf(node, 'dns'), 'of "dns"', dnsKeys)
    if (type === 'ipkeeper')
      yield* make(document, node, 'of ipkeeper', ours, 'ours', Object.keys(NetconfSchema.properties))
    const known = referencePlugin(type)
    if (!known) continue
    const delegate = textField(valueOf(node, 'ipam'), 'type') === 'ipkeeper' ? ipkeeperClientKeys : {}
    yield* make(document, node, `of ${type ?? ''}`, { ...commonKeys, ...known.keys, ...delegate })
  }
  for (const section of ipamSections(site)) {
    const { node, type, entry } = section
    const { document } = entry.network
    const isOurs = type === 'ipkeeper'
    const known = referencePlugin(type)
    if (isOurs)
      yield* make(document, node, 'of ipkeeper\'s "ipam"', ours, 'ours', Object.keys(IpamSchema.properties))
    else if (known?.role === 'ipam') yield* make(document, node, `of ${type}`, known.keys)
    if (!isOurs && known?.role !== 'ipam') continue
    for (const route of valueOf(node, 'routes')?.items ?? [])
      yield* make(document, route, 'of a route', isOurs ? ours : routeKeys, 'folded', Object.keys(routeKeys))
    if (!hasRanges(section)) continue
    for (const range of (valueOf(node, 'ranges')?.items ?? []).flatMap(({ items }) => items)) {
      if (isOurs)
        yield* make(document, range, 'of a range', ours, 'ours', Object.keys(RangeSchema.properties))
      else yield* make(document, range, 'of a range', hostLocalRangeKeys)
    }
  }
}

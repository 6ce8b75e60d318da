import type { ResultDns, ResultRoute } from '../../shared/cni/result.ts'
import { isJsonObject } from '../../shared/json/fold.ts'
import { formatAddress, parseAddress } from '../../shared/net/address.ts'
import { cidrContains, firstOf, formatCidr, parseCidr, type Cidr } from '../../shared/net/cidr.ts'
import { parseAddressRange } from '../ipam/request/parse-addresses.ts'
import type {
  LabelSelector,
  PoolNetwork,
  PoolPolicy,
  PoolRules,
  PoolSettings,
} from '../ipam/pools/pool-settings.ts'
import {
  canonicalRange,
  formatRange,
  isSegmentName,
  type Range,
  type RangeDefinition,
} from '../ipam/pools/pool.ts'
import { RangeIndex, type PlacedRange } from '../ipam/pools/range-index.ts'
import { parseDuration } from '../../shared/text/duration.ts'
import { parseRetention } from '../ipam/records/retention.ts'
import { defaults } from './schema-words.ts'
import { type DaemonConfigFile } from './daemon-config.schema.ts'
import { type LabelSelectorEntry, type PoolEntry, type RangeEntry } from './pool-entry.schema.ts'
import { formatPath, type SettingFaults, type Path } from './setting-faults.ts'
import { readText } from './schema-faults.ts'

/** IPv6 works from here on (RFC 8200, section 5). */
const minimumIpv6Mtu = 1280

/** Where a range stands in the file. */
interface Origin {
  readonly path: Path
  readonly pool: number
  /** Counts the ranges of the file. */
  readonly order: number
}

/** A list that is there and is one; its elements may be of any shape. */
function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? (value as readonly T[]) : []
}

/** The network that a text names; one with host bits is a slip of the pen, or means one address. */
function readNetwork(faults: SettingFaults, path: Path, value: unknown): Cidr | undefined {
  const cidr = readText(faults, path, value, parseCidr)
  if (!cidr) return undefined
  const network: Cidr = { ...cidr, address: firstOf(cidr) }
  if (network.address.value === cidr.address.value) return cidr
  faults.add(path, `"${formatCidr(cidr)}" has host bits set; the network is ${formatCidr(network)}`)
  return undefined
}

function readRange(faults: SettingFaults, path: Path, entry: RangeEntry): Range | undefined {
  const address = (key: 'rangeStart' | 'rangeEnd' | 'gateway') =>
    readText(faults, [...path, key], entry[key], parseAddress)
  const subnet = readText(faults, [...path, 'subnet'], entry.subnet, parseCidr)
  const rangeStart = address('rangeStart')
  const rangeEnd = address('rangeEnd')
  const gateway = address('gateway')
  const runs = listOf(entry.exclude).map((text, index) =>
    readText(faults, [...path, 'exclude', index], text, parseAddressRange),
  )
  const keys = ['subnet', 'rangeStart', 'rangeEnd', 'gateway', 'exclude'] as const
  // What cannot be read would look as if it were not there.
  if (!subnet || keys.some(key => !faults.isSound([...path, key]))) return undefined
  const definition: RangeDefinition = {
    subnet,
    ...(rangeStart && { rangeStart }),
    ...(rangeEnd && { rangeEnd }),
    ...(gateway && { gateway }),
    exclude: runs.filter(run => run !== undefined),
    draining: entry.draining === true,
  }
  const range = canonicalRange(definition, (key, message, index) => {
    faults.add([...path, key, ...(index === undefined ? [] : [index])], message)
  })
  if (!range || cidrContains(subnet, range.gateway)) return range
  // host-local gives such a gateway to pods, which then cannot reach it.
  const text = `gateway ${formatAddress(range.gateway)} not in network ${formatCidr(subnet)}`
  faults.add([...path, 'gateway'], text)
  return undefined
}

/** Range sets with the places of their ranges: the pool's own short form first, as host-local reads it. */
function rangeEntries(
  faults: SettingFaults,
  path: Path,
  entry: PoolEntry,
): (readonly (readonly [path: Path, entry: RangeEntry])[])[] {
  const { subnet } = entry
  if (subnet === undefined) {
    for (const key of ['rangeStart', 'rangeEnd', 'gateway', 'exclude'] as const) {
      if (entry[key] !== undefined)
        faults.add([...path, key], `"${key}" stands beside a "subnet" only, or in a range of "ranges"`, 'key')
    }
    if (entry.ranges === undefined) faults.add(path, 'has neither "ranges" nor "subnet"')
  }
  const sets = listOf(entry.ranges).map((set, index) =>
    listOf(set)
      .map((range, position) => [[...path, 'ranges', index, position], range] as const)
      .filter(([, range]) => isJsonObject(range)),
  )
  return subnet === undefined ? sets : [[[path, { ...entry, subnet }]], ...sets]
}

function refuseMixedFamilies(faults: SettingFaults, set: readonly (readonly [Path, Range])[]): void {
  const family = set[0]?.[1].family
  for (const [path, range] of set) {
    if (range.family === family) continue
    faults.add(
      path,
      `IPv${range.family} in a range set of IPv${family ?? 0}; each family has a range set of its own`,
    )
  }
}

function readSelector(
  faults: SettingFaults,
  path: Path,
  entry: LabelSelectorEntry | undefined,
): LabelSelector | undefined {
  if (!isJsonObject(entry)) return undefined
  for (const [index, requirement] of listOf(entry.matchExpressions).entries()) {
    const at = [...path, 'matchExpressions', index]
    if (!faults.isSound(at)) continue
    const { operator, values = [] } = requirement
    const needsValues = operator === 'In' || operator === 'NotIn'
    if (needsValues && values.length === 0) faults.add(at, `operator ${operator} needs "values"`)
    if (!needsValues && values.length > 0)
      faults.add([...at, 'values'], `operator ${operator} takes no values`)
  }
  const { matchLabels = {}, matchExpressions = [] } = entry
  return {
    matchLabels,
    matchExpressions: listOf(matchExpressions)
      .filter(isJsonObject)
      .map(one => ({ ...one, values: one.values ?? [] })),
  }
}

function readRules(faults: SettingFaults, path: Path, entry: PoolEntry): PoolRules {
  const { namespaces, nodes, quotaPerNamespace, allowMac } = entry
  const selectors = {
    namespaceSelector: readSelector(faults, [...path, 'namespaceSelector'], entry.namespaceSelector),
    nodeSelector: readSelector(faults, [...path, 'nodeSelector'], entry.nodeSelector),
  }
  return {
    ...(namespaces && { namespaces }),
    ...(selectors.namespaceSelector && { namespaceSelector: selectors.namespaceSelector }),
    ...(nodes && { nodes }),
    ...(selectors.nodeSelector && { nodeSelector: selectors.nodeSelector }),
    ...(quotaPerNamespace !== undefined && { quotaPerNamespace }),
    ...(allowMac !== undefined && { allowMac }),
  }
}

function readRoutes(faults: SettingFaults, path: Path, entry: PoolEntry): readonly ResultRoute[] | undefined {
  if (!Array.isArray(entry.routes)) return undefined
  return entry.routes.flatMap((route, index): ResultRoute[] => {
    const at = [...path, 'routes', index]
    if (!faults.isSound(at)) return []
    const { dst, gw, ...numbers } = route
    const network = readNetwork(faults, [...at, 'dst'], dst)
    const hop = readText(faults, [...at, 'gw'], gw, parseAddress)
    if (!network) return []
    if (hop && hop.family !== network.address.family)
      faults.add([...at, 'gw'], `${formatAddress(hop)} is not of the family of ${formatCidr(network)}`)
    return [{ dst: formatCidr(network), ...(hop && { gw: formatAddress(hop) }), ...numbers }]
  })
}

function readDns(faults: SettingFaults, path: Path, { dns }: PoolEntry): ResultDns | undefined {
  if (!isJsonObject(dns)) return undefined
  const nameservers = listOf(dns.nameservers).flatMap((text, index) => {
    const address = readText(faults, [...path, 'dns', 'nameservers', index], text, parseAddress)
    return address ? [formatAddress(address)] : []
  })
  return { ...dns, ...(nameservers.length > 0 && { nameservers }) }
}

function readNetworkSettings(
  faults: SettingFaults,
  path: Path,
  entry: PoolEntry,
  ranges: readonly Range[],
): PoolNetwork {
  const routes = readRoutes(faults, path, entry)
  const dns = readDns(faults, path, entry)
  const { mtu } = entry
  const tooSmall = mtu !== undefined && mtu < minimumIpv6Mtu && faults.isSound([...path, 'mtu'])
  if (tooSmall && ranges.some(range => range.family === 6))
    faults.add([...path, 'mtu'], `${mtu} is less than the ${minimumIpv6Mtu} that IPv6 needs`)
  return { ...(routes && { routes }), ...(dns && { dns }), ...(mtu !== undefined && { mtu }) }
}

function readPolicy(
  faults: SettingFaults,
  path: Path,
  entry: PoolEntry,
  standard: Omit<PoolPolicy, 'strategy'>,
): PoolPolicy {
  return {
    retention:
      readText(faults, [...path, 'retention'], entry.retention, parseRetention) ?? standard.retention,
    cooldown: readText(faults, [...path, 'cooldown'], entry.cooldown, parseDuration) ?? standard.cooldown,
    preferFor: readText(faults, [...path, 'preferFor'], entry.preferFor, parseDuration) ?? standard.preferFor,
    strategy: entry.strategy ?? defaults.strategy,
  }
}

/** Two ranges of a segment that share addresses; the later one in the file is to blame. */
function refuseOverlaps(
  faults: SettingFaults,
  placed: readonly PlacedRange<Origin>[],
  entries: readonly PoolEntry[],
  lineOf: (path: Path) => number,
): void {
  for (const pair of new RangeIndex(placed).overlaps()) {
    const [earlier, later] = pair.toSorted((a, b) => a.owner.order - b.owner.order) as [
      PlacedRange<Origin>,
      PlacedRange<Origin>,
    ]
    const { path, pool } = earlier.owner
    const whose =
      pool === later.owner.pool ? 'of the same pool' : `of pool "${entries[pool]?.name ?? formatPath(path)}"`
    faults.add(
      later.owner.path,
      `${formatRange(later.range)} overlaps ${formatRange(earlier.range)} ${whose} in line ${lineOf(path)}; both are in segment ${later.segment}`,
    )
  }
}

/**
 * The pools of a file whose shape was checked; each fault is added. What is unsound is not looked into any further, the
 * rest is, so that one mistake is one complaint. Meaningless unless the faults stay as they were.
 *
 * @param standard what holds for pools that do not say otherwise
 * @param lineOf line of a path in the file
 */
export function readPools(
  file: Pick<DaemonConfigFile, 'pools'>,
  standard: Omit<PoolPolicy, 'strategy'>,
  faults: SettingFaults,
  lineOf: (path: Path) => number,
): PoolSettings[] {
  const entries = listOf(file.pools)
  const placed: PlacedRange<Origin>[] = []
  const named = new Map<string, number>()
  const pools = entries.flatMap((entry, index): PoolSettings[] => {
    const path = ['pools', index]
    if (!isJsonObject(entry)) return []
    const { name } = entry
    const namesake = named.get(name)
    if (namesake === undefined) named.set(name, index)
    else if (faults.isSound([...path, 'name'])) {
      const line = lineOf(['pools', namesake, 'name'])
      faults.add([...path, 'name'], `"${name}" is the name of pools[${namesake}] in line ${line} as well`)
    }
    const segment =
      readText(faults, [...path, 'segment'], entry.segment, text =>
        isSegmentName(text) ? text : undefined,
      ) ?? defaults.segment
    const rangeSets = rangeEntries(faults, path, entry).map(set => {
      const ranges = set.flatMap(([at, range]): [Path, Range][] => {
        const canonical = readRange(
          faults,
          at,
          entry.draining === true ? { ...range, draining: true } : range,
        )
        return canonical ? [[at, canonical]] : []
      })
      refuseMixedFamilies(faults, ranges)
      if (faults.isSound([...path, 'segment'])) {
        for (const [at, range] of ranges)
          placed.push({ segment, range, owner: { path: at, pool: index, order: placed.length } })
      }
      return ranges.map(([, range]) => range)
    })
    return [
      {
        pool: { name, segment, rangeSets },
        rules: readRules(faults, path, entry),
        policy: readPolicy(faults, path, entry, standard),
        network: readNetworkSettings(faults, path, entry, rangeSets.flat()),
      },
    ]
  })
  refuseOverlaps(faults, placed, entries, lineOf)
  return pools
}

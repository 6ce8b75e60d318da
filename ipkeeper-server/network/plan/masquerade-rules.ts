import { isIpv6 } from '../../../shared/net/address-text.ts'
import { formatAddress, parseAddress, type Address, type Family } from '../../../shared/net/address.ts'
import { cidrContains, firstOf, formatCidr, parseCidr, type Cidr } from '../../../shared/net/cidr.ts'
import type { LeaseRecord, WiringRecord } from '../../ipam/records/records.ts'

/** Addresses of pods that leave the node under the node's own, in one pool. */
export interface MasqueradedPods {
  readonly pool: string
  /** Networks that they reach under their own addresses: the pool's subnets, in CIDR notation. */
  readonly ranges: readonly string[]
  /** Without prefix. */
  readonly addresses: readonly string[]
}

/** A pod's address and the pool whose rule is for it. */
export interface Member {
  readonly pool: string
  readonly address: string
}

/** Each pool with its networks in canonical CIDR notation, as `readRanges` gives them. */
type PoolRanges = ReadonlyMap<string, readonly string[]>

export const masqueradeTable = 'inet ipkeeper'

const chain = 'postrouting'

interface FamilyWords {
  readonly protocol: string
  readonly elementType: string
  /** What no router forwards, or what is no one host. 169.254.0.0/16 is not here: clouds serve metadata from it. */
  readonly neverToward: readonly string[]
}

const familyWords: Readonly<Record<Family, FamilyWords>> = {
  4: { protocol: 'ip', elementType: 'ipv4_addr', neverToward: ['224.0.0.0/4', '255.255.255.255/32'] },
  6: { protocol: 'ip6', elementType: 'ipv6_addr', neverToward: ['fe80::/10', 'ff00::/8'] },
}

const families: readonly Family[] = [4, 6]

/** FNV-1a with 64 bits: it tells pools of one node apart and guards nothing. */
function hash64(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(text))
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn
  return hash.toString(16).padStart(16, '0')
}

/**
 * Name of the set of a pool's masqueraded addresses: the same for the same pool, at most 31 characters (all that kernels
 * before 4.14 allow), whatever the pool is called.
 */
export function setName(pool: string, family: Family): string {
  return `pods${family}_${hash64(pool)}`
}

/** nft knows no way to write a quote inside a comment, and allows 128 bytes. */
function comment(pool: string): string {
  return `comment "pool ${pool.replaceAll(/[^A-Za-z0-9_.:/-]/g, '_').slice(0, 100)}"`
}

function checkedAddress(text: string): Address {
  const address = parseAddress(text)
  if (address) return address
  // Nothing of what reaches here comes unchecked; this is the last line.
  throw new Error(`${JSON.stringify(text)} cannot be an element of a set of addresses`)
}

/** An address as nft writes it; throws for what is none. */
export function readMember(address: string): string {
  return formatAddress(checkedAddress(address))
}

/** Networks in canonical notation, without those inside another, which nft refuses in one set; throws for what is none. */
export function readRanges(ranges: readonly string[]): string[] {
  const networks = ranges.map(text => {
    const cidr = parseCidr(text)
    if (!cidr) throw new Error(`${JSON.stringify(text)} cannot be a network of a rule`)
    return { ...cidr, address: firstOf(cidr) }
  })
  return outermost(networks).map(formatCidr)
}

function outermost(networks: readonly Cidr[]): Cidr[] {
  const widestFirst = networks.toSorted((a, b) => a.prefixLength - b.prefixLength)
  const kept: Cidr[] = []
  for (const network of widestFirst)
    if (!kept.some(wider => cidrContains(wider, network.address))) kept.push(network)
  return kept
}

const isOf = (family: Family) => (text: string) => isIpv6(text) === (family === 6)

function rule(pool: string, ranges: readonly string[], family: Family): string {
  const { protocol, neverToward } = familyWords[family]
  const excepted = readRanges([...ranges.filter(isOf(family)), ...neverToward])
  return (
    `add rule ${masqueradeTable} ${chain} ${protocol} saddr @${setName(pool, family)} ` +
    `${protocol} daddr != { ${excepted.join(', ')} } masquerade ${comment(pool)}`
  )
}

const sets = (pools: Iterable<string>): string[] =>
  [...pools].flatMap(pool =>
    families.map(
      family =>
        `add set ${masqueradeTable} ${setName(pool, family)} ` +
        `{ type ${familyWords[family].elementType}; ${comment(pool)}; }`,
    ),
  )

const rules = (pools: PoolRanges): string[] =>
  [...pools]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([pool, ranges]) => families.map(family => rule(pool, ranges, family)))

function elements(verb: 'add' | 'delete', members: Iterable<Member>): string[] {
  const bySet = Map.groupBy(members, ({ pool, address }) => setName(pool, checkedAddress(address).family))
  return [...bySet].map(
    ([set, group]) =>
      `${verb} element ${masqueradeTable} ${set} { ${group.map(({ address }) => readMember(address)).join(', ')} }`,
  )
}

/**
 * Set with the one element that says in which state the table was left: a ruleset that somebody saved and restored is
 * found out by it. Rules never look at it.
 */
const revisionSet = 'revision'

/**
 * An element of that set: an IPv6 address, as the longest word that nft keeps, of 64 bits that tell one daemon from an earlier
 * one and 64 that count its changes.
 *
 * @param daemon 16 hexadecimal digits
 */
export function revisionOf(daemon: string, count: number): string {
  const digits = daemon + count.toString(16).padStart(16, '0')
  return readMember(digits.match(/.{4}/g)?.join(':') ?? '')
}

const revisionElement = (verb: 'add' | 'delete', revision: string): string =>
  `${verb} element ${masqueradeTable} ${revisionSet} { ${readMember(revision)} }`

const script = (lines: readonly string[]): string => `${lines.join('\n')}\n`

/**
 * Makes the table anew, whatever there is of it, in one transaction: nobody sees it half made.
 *
 * @param revision that the table has afterwards
 */
export function rebuildScript(pools: PoolRanges, members: Iterable<Member>, revision: string): string {
  return script([
    // A delete of what is not there fails, an add of what is there does not.
    `add table ${masqueradeTable}`,
    `delete table ${masqueradeTable}`,
    `add table ${masqueradeTable}`,
    `add chain ${masqueradeTable} ${chain} { type nat hook postrouting priority 100; policy accept; }`,
    ...sets(pools.keys()),
    ...rules(pools),
    ...elements('add', members),
    `add set ${masqueradeTable} ${revisionSet} { type ipv6_addr; comment "how ipkeeper left this table"; }`,
    revisionElement('add', revision),
  ])
}

/** What changes in a table that is there. */
interface MasqueradeChange {
  readonly added: readonly Member[]
  readonly removed: readonly Member[]
  /** Pools of `pools` that the table has not seen yet. */
  readonly newPools: readonly string[]
  /** What the table was left as, and what it is afterwards. */
  readonly revision: { readonly from: string; readonly to: string }
}

/**
 * Changes the table in one transaction, which fails as a whole when the table, its chain or a set is gone, or when it is a
 * former state of the table that somebody has restored. Where something is added, the rules are written anew: somebody may have flushed them, and to look whether they are there makes nft read
 * every element of the table (nft 1.0.6), which a flush does not.
 */
export function changeScript(
  pools: PoolRanges,
  { added, removed, newPools, revision }: MasqueradeChange,
): string {
  return script([
    revisionElement('delete', revision.from),
    revisionElement('add', revision.to),
    ...sets(newPools),
    ...(added.length + newPools.length === 0
      ? []
      : [`flush chain ${masqueradeTable} ${chain}`, ...rules(pools)]),
    // Added first, because the delete of one that somebody else has removed would fail.
    ...elements('add', removed),
    ...elements('delete', removed),
    ...elements('add', added),
  ])
}

/** What `nft -j list table` prints, as far as it is looked at. */
interface Listing {
  readonly nftables?: readonly {
    readonly set?: { readonly name: string; readonly elem?: readonly unknown[] }
    readonly rule?: { readonly expr?: readonly object[] }
  }[]
}

const familyName: Readonly<Record<Family, string>> = { 4: 'IPv4', 6: 'IPv6' }

/** What the table lacks of some pods, each in one line. `listing`: the parsed output of `nft -j list table`. */
export function masqueradeDifferences(
  wanted: readonly MasqueradedPods[],
  listing: Listing | undefined,
): string[] {
  const objects = listing?.nftables ?? []
  const ruleTexts = objects.flatMap(({ rule }) => (rule?.expr ? [rule.expr] : []))
  const masquerades = (set: string): boolean =>
    ruleTexts.some(
      expr => JSON.stringify(expr).includes(`"@${set}"`) && expr.some(part => 'masquerade' in part),
    )
  const contents = new Map(objects.flatMap(({ set }) => (set ? [[set.name, new Set(set.elem)]] : [])))
  const missing = (pool: string, family: Family, address: string): string | undefined => {
    const set = setName(pool, family)
    if (!listing) return `there is no table ${masqueradeTable}`
    if (!masquerades(set)) return `the table has no rule for ${familyName[family]} of pool ${pool}`
    return contents.get(set)?.has(address) ? undefined : `set ${set} of pool ${pool} lacks it`
  }
  return wanted.flatMap(({ pool, addresses }) =>
    addresses.flatMap(text => {
      const member = checkedAddress(text)
      const address = formatAddress(member)
      const why = missing(pool, member.family, address)
      return why === undefined ? [] : [`${address} is not masqueraded by nft: ${why}`]
    }),
  )
}

/** The masqueraded addresses of one attachment by their pools. `subnetsOf`: of a pool, in CIDR notation. */
export function masqueradedPods(
  { masqueraded }: WiringRecord,
  leases: readonly LeaseRecord[],
  subnetsOf: (pool: string) => readonly string[],
): MasqueradedPods[] {
  const own = leases.filter(({ address }) => masqueraded.includes(address))
  return [...Map.groupBy(own, ({ pool }) => pool)].map(([pool, group]) => ({
    pool,
    ranges: subnetsOf(pool),
    addresses: group.map(({ address }) => address),
  }))
}

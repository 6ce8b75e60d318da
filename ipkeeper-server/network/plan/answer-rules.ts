import { isIpv6 } from '../../../shared/net/address-text.ts'
import { parseAddress } from '../../../shared/net/address.ts'

/** What is asked for, and whose answers do not count. */
export interface GuardedProbe {
  /** The port of the pod that asks. */
  readonly port: string
  /** The ports of pods that are known to have other addresses: at least one. */
  readonly others: readonly string[]
  /** Without prefix. */
  readonly addresses: readonly string[]
  /** When it began: milliseconds of CLOCK_MONOTONIC, which all daemons of a machine share. */
  readonly at: number
}

/** Begins the names of the tables: the only ones of family bridge that are ever touched. */
const guardPrefix = 'ipkeeper-probe-'

/** Milliseconds; no probe takes a tenth of it. */
const abandonedAfter = 60_000

/** One for each probe, so that none waits for another one; the name says when it was made, in seconds. */
export function guardTable({ port, at }: Pick<GuardedProbe, 'port' | 'at'>): string {
  return `bridge ${guardPrefix}${port}-${Math.floor(at / 1000)}`
}

const quoted = (words: readonly string[]): string => words.map(word => `"${word}"`).join(', ')

/**
 * The rules of nft that keep from a port what other pods say of the addresses that it asks for, and remember who spoke. By the port
 * that a frame came in at, as a pod may write any MAC into it. All else passes.
 *
 * ARP: whatever names such an address as the sender's, as arping hears it. IPv6: advertisements of such a target, and
 * solicitations of it from no address, by who wants it too: one that comes from an address only looks for whoever has it (RFC
 * 4862, 5.4.3). The target stands 8 bytes into the message (RFC 4861, 4.3 and 4.4).
 */
export function guardScript(probe: GuardedProbe): string {
  const { port, others, addresses } = probe
  const between = `oifname "${port}" iifname { ${quoted(others)} }`
  const unheard = 'add @heard { iifname } drop'
  const ipv4 = addresses.filter(address => !isIpv6(address))
  const ipv6 = addresses.filter(isIpv6).flatMap(address => {
    const value = parseAddress(address)?.value
    return value === undefined ? [] : [`0x${value.toString(16).padStart(32, '0')}`]
  })
  return [
    `table ${guardTable(probe)} {`,
    `  set heard { type ifname; flags dynamic; size 65535; }`,
    `  chain forward {`,
    `    type filter hook forward priority 0; policy accept;`,
    ...(ipv4.length > 0
      ? [`    ${between} ether type arp arp saddr ip { ${ipv4.join(', ')} } ${unheard}`]
      : []),
    ...(ipv6.length > 0
      ? ['icmpv6 type nd-neighbor-advert', 'ip6 saddr :: icmpv6 type nd-neighbor-solicit'].map(
          claim => `    ${between} ${claim} @th,64,128 { ${ipv6.join(', ')} } ${unheard}`,
        )
      : []),
    `  }`,
    `}`,
    '',
  ].join('\n')
}

interface NftJson {
  readonly nftables?: readonly {
    readonly set?: { readonly elem?: readonly unknown[] }
    readonly table?: { readonly family?: string; readonly name?: string }
  }[]
}

/** The ports in what `nft -j list set` of a table shows. */
export function readHeard(shown: object): readonly string[] {
  const { nftables = [] } = shown as NftJson
  return nftables
    .flatMap(({ set }) => set?.elem ?? [])
    .filter((port): port is string => typeof port === 'string')
}

/**
 * The tables, in what `nft -j list tables bridge` shows, of probes that nobody makes any more: a daemon was killed at them. Those
 * that are in use, be it by another daemon, are younger.
 *
 * @param now as GuardedProbe.at
 */
export function abandonedTables(shown: object, now: number): readonly string[] {
  const { nftables = [] } = shown as NftJson
  return nftables.flatMap(({ table }) => {
    const { family, name = '' } = table ?? {}
    if (family !== 'bridge' || !name.startsWith(guardPrefix)) return []
    const at = 1000 * Number(/-(\d+)$/.exec(name)?.[1] ?? -Infinity)
    return now - at > abandonedAfter ? [`bridge ${name}`] : []
  })
}

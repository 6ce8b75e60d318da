import type { PoolDescription, RangeDescription } from '../../../shared/api/pool-description.schema.ts'
import { formatAddress, type Family } from '../../../shared/net/address.ts'
import { formatCidr } from '../../../shared/net/cidr.ts'
import { formatSelector } from '../../ipam/pools/pool-rules.ts'
import { findPool, policyOf, type PoolRules } from '../../ipam/pools/pool-settings.ts'
import {
  capacityOf,
  unusableReason,
  without,
  type Interval,
  type Pool,
  type Range,
} from '../../ipam/pools/pool.ts'
import { isTimeOver } from '../../ipam/records/records.ts'
import { formatDuration } from '../../../shared/text/duration.ts'
import { formatRetention } from '../../ipam/records/retention.ts'
import { ownAddresses } from '../verbs/add.ts'
import type { LeaseService } from '../verbs/service.ts'
import { count } from './listing.ts'
import type { Turn } from './in-turns.ts'
import { poolNamed } from './pool-map.ts'

/** Addresses between two turns of the event loop: about a millisecond. */
const step = 500

const sizeOf = ({ first, last }: Interval): bigint => last - first + 1n

/** What of a range is never assigned. Gateway, network and broadcast address stand by themselves, and exclusions as runs. */
function neverOf(range: Range): RangeDescription['never'] {
  const { family } = range
  const text = (value: bigint): string => formatAddress({ family, value })
  const why = (value: bigint): string => unusableReason(range, { family, value }) ?? 'excluded'
  return without({ first: range.first.value, last: range.last.value }, range.usable).flatMap(gap => {
    const singles = [...new Set([gap.first, range.gateway.value, gap.last])]
      .filter(value => value >= gap.first && value <= gap.last && why(value) !== 'excluded')
      .map(value => ({ first: value, last: value }))
    return [...singles, ...without(gap, singles)]
      .toSorted((a, b) => (a.first < b.first ? -1 : 1))
      .map(run => ({ first: text(run.first), last: text(run.last), why: why(run.first) }))
  })
}

function describeRange(pool: Pool, range: Range, set: number): RangeDescription {
  const run = { first: range.first.value, last: range.last.value }
  return {
    set,
    subnet: formatCidr(range.subnet),
    first: formatAddress(range.first),
    last: formatAddress(range.last),
    gateway: formatAddress(range.gateway),
    size: count(sizeOf(run)),
    capacity: count(capacityOf({ ...pool, rangeSets: [[range]] })),
    ...(range.draining && { draining: range.draining }),
    never: neverOf(range),
  }
}

function describeRules(rules: PoolRules): string[] {
  const { namespaces, namespaceSelector, nodes, nodeSelector, quotaPerNamespace, allowMac, besides } = rules
  const own = [
    ...(namespaces ? [`namespaces ${namespaces.join(', ')}`] : []),
    ...(namespaceSelector ? [`namespaces with ${formatSelector(namespaceSelector)}`] : []),
    ...(nodes ? [`nodes ${nodes.join(', ')}`] : []),
    ...(nodeSelector ? [`nodes with ${formatSelector(nodeSelector)}`] : []),
    ...(quotaPerNamespace === undefined
      ? []
      : [`at most ${quotaPerNamespace} addresses of a family for the pods of a namespace`]),
    ...(allowMac === false ? ['pods choose no MAC'] : []),
  ]
  const more = (besides ? describeRules(besides) : []).filter(rule => !own.includes(rule))
  return [...own, ...more.map(rule => `${rule}: of the file that is otherwise not in force`)]
}

/** The lowest addresses that nobody has, so many of each family. What it walks past is in some record. */
async function freeAddresses(service: LeaseService, pool: Pool, most: number, turn: Turn): Promise<string[]> {
  const { ledger, now } = service
  const own = await ownAddresses(service)
  const found: string[] = []
  const left: Record<Family, number> = { 4: most, 6: most }
  let walked = 0
  for (const range of pool.rangeSets.flat().filter(({ draining }) => !draining))
    for (const { first, last } of range.usable)
      for (let value = first; value <= last && left[range.family] > 0; value++) {
        if (++walked % step === 0) await turn()
        const address = { family: range.family, value }
        const key = { segment: pool.segment, address: formatAddress(address) }
        const lease = ledger.lease(key)
        if ((lease && !isTimeOver(lease, now())) || ledger.reservation(key) || own.find(address)) continue
        found.push(key.address)
        left[range.family]--
      }
  return found
}

/**
 * What the pool of this name is, and so many of its free addresses.
 *
 * @throws Problem IPK_POOL_UNKNOWN
 */
export async function describePool(
  service: LeaseService,
  name: string,
  free: number,
  turn: Turn,
): Promise<PoolDescription> {
  const pool = poolNamed(service, name)
  const book = service.pools()
  const policy = policyOf(book, name)
  return {
    ...{ name, segment: pool.segment, origin: service.ledger.pool(name)?.origin ?? 'network' },
    ranges: pool.rangeSets.flatMap((set, index) => set.map(range => describeRange(pool, range, index))),
    rules: describeRules(findPool(book, name)?.rules ?? {}),
    retention: formatRetention(policy.retention),
    cooldown: formatDuration(policy.cooldown),
    preferFor: formatDuration(policy.preferFor),
    strategy: policy.strategy,
    free: await freeAddresses(service, pool, free, turn),
  }
}

import { parseAddress, type Address, type Family } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { chooseInBlocks, blockOf, affinityBlockSize } from '../../ipam/pools/block-affinity.ts'
import { IntervalSet } from '../../ipam/pools/interval-set.ts'
import type { Interval } from '../../ipam/pools/pool.ts'
import type { LeaseKey, LeaseRecord } from '../../ipam/records/records.ts'
import { PropertyCounts } from './key-index.ts'

/** So many are remembered: a node replaces few pods at a time. */
const mostRemembered = 256

/** Which nodes have addresses of which blocks, and how many. */
export class BlockOwners {
  readonly #nodes = new Map<bigint, PropertyCounts>()

  /** @param step 1 when the node has one more, -1 when one less */
  count(address: bigint, node: string, step: 1 | -1): void {
    const block = blockOf(address)
    const nodes = this.#nodes.get(block) ?? new PropertyCounts()
    nodes.count(node, step)
    if (nodes.size === 0) this.#nodes.delete(block)
    else this.#nodes.set(block, nodes)
  }

  /** @param block its first address */
  hasOthers(block: bigint, node: string): boolean {
    const nodes = this.#nodes.get(block)
    return nodes !== undefined && nodes.size > (nodes.has(node) ? 1 : 0)
  }

  /** The blocks, by their first addresses, of which a node has any. */
  *blocksOf(node: string): Iterable<bigint> {
    for (const [block, nodes] of this.#nodes) if (nodes.has(node)) yield block
  }
}

/**
 * Addresses that a node had and that nobody has had since. In a pool that is almost full every node sees the same few free
 * ones; while each goes back to its own, they do not meet.
 */
export class RecentlyReleased {
  /** The longest free first. */
  readonly #addresses = new Set<bigint>()

  /** @param gone the node's record of it was deleted; else the address has got a record again, whoever's */
  note(address: bigint, gone: boolean): void {
    this.#addresses.delete(address)
    if (!gone) return
    this.#addresses.add(address)
    for (const oldest of this.#addresses) {
      if (this.#addresses.size <= mostRemembered) return
      this.#addresses.delete(oldest)
    }
  }

  /** One of the interval, the longest free first. `isFree`: it may be reserved, or have a record that cannot be read. */
  find({ first, last }: Interval, isFree: (address: bigint) => boolean): bigint | undefined {
    for (const address of this.#addresses)
      if (address >= first && address <= last && isFree(address)) return address
    return undefined
  }
}

/** Of one segment and family. */
interface Addresses {
  readonly segment: string
  readonly family: Family
  /** Those that dynamic choice passes over. */
  readonly occupied: IntervalSet
  /** Both are kept where nodes share the store. */
  readonly owners: BlockOwners
  readonly released: RecentlyReleased
}

/** Which addresses of each segment dynamic choice passes over, and which ones a node prefers where others choose as well. */
export class SegmentAddresses {
  readonly #all = new Map<string, Addresses>()

  mark({ segment, address: text }: LeaseKey, isTaken: boolean): void {
    const address = parseAddress(text)
    if (!address) throw new Problem('IPK_INTERNAL', `record with address ${text}`)
    const { occupied } = this.#of(segment, address.family)
    if (isTaken) occupied.add(address.value)
    else occupied.delete(address.value)
  }

  /**
   * Counts a lease for the node that has it, where nodes share the store.
   *
   * @param node this one, which comes back to what it had
   */
  countLease(lease: LeaseRecord, step: 1 | -1, node: string): void {
    const address = parseAddress(lease.address)
    if (!address) return
    const { owners, released } = this.#of(lease.segment, address.family)
    owners.count(address.value, lease.node, step)
    released.note(address.value, step === -1 && lease.node === node)
  }

  /** The lowest address of the run that is not occupied. `sharer`: the node that chooses where others choose as well. */
  lowestFree(segment: string, family: Family, run: Interval, sharer?: string): Address | undefined {
    const { occupied, owners, released } = this.#of(segment, family)
    const value =
      sharer === undefined
        ? occupied.firstGap(run.first, run.last)
        : chooseInBlocks(sharer, run, {
            firstFree: ({ first, last }) => occupied.firstGap(first, last),
            isOfOtherNode: block => owners.hasOthers(block, sharer),
            recentlyReleased: interval =>
              released.find(interval, address => occupied.firstGap(address, address) !== undefined),
          })
    return value === undefined ? undefined : { family, value }
  }

  /** All addresses, taken or not, of the blocks in which a node has any, where nodes share the store. */
  *besides(node: string): Iterable<Address & { readonly segment: string }> {
    for (const { segment, family, owners } of this.#all.values())
      for (const block of owners.blocksOf(node))
        for (let value = block; value < block + affinityBlockSize; value++) yield { segment, family, value }
  }

  #of(segment: string, family: Family): Addresses {
    const key = `${family} ${segment}`
    let addresses = this.#all.get(key)
    if (!addresses) {
      const [occupied, owners, released] = [new IntervalSet(), new BlockOwners(), new RecentlyReleased()]
      this.#all.set(key, (addresses = { segment, family, occupied, owners, released }))
    }
    return addresses
  }
}

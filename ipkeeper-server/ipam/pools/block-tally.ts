import { addressBits, type Address } from '../../../shared/net/address.ts'
import { firstOf, lastOf, type Cidr } from '../../../shared/net/cidr.ts'
import type { Interval, Pool } from './pool.ts'
import { isTimeOver, type LeaseOutline } from '../records/records.ts'

/** What an address is in somebody's hands; see MapState of the API. */
export type TakenState = 'bound' | 'held' | 'cooling' | 'aside' | 'reserved'

export type BlockCounts = Readonly<Record<TakenState | 'free' | 'unusable', bigint>>

export interface CountedBlock {
  readonly cidr: Cidr
  readonly counts: BlockCounts
}

/** A block of so many bits is drawn address by address, and so many blocks at once. */
const blockBits = 8
/** By so many bits blocks grow when there would be too many. */
const growth = 4

/** undefined where nobody has the address: there is no lease, or its time is over, and no reservation. */
export function takenState(
  lease: Pick<LeaseOutline, 'state' | 'until' | 'aside'> | undefined,
  reserved: boolean,
  now: number,
): TakenState | undefined {
  if (lease && !isTimeOver(lease, now)) return lease.aside ? 'aside' : lease.state
  return reserved ? 'reserved' : undefined
}

/** Whether a block has so few addresses that each is shown. */
export function isFine({ address: { family }, prefixLength }: Cidr): boolean {
  return addressBits[family] - prefixLength <= blockBits
}

/** The smallest block worth drawing that has all of a range: of 256 addresses at least, and no larger than its subnet. */
export function smallestView(subnet: Cidr, first: Address, last: Address): Cidr {
  let prefixLength = Math.max(subnet.prefixLength, addressBits[first.family] - blockBits)
  while (
    prefixLength > subnet.prefixLength &&
    firstOf({ address: first, prefixLength }).value !== firstOf({ address: last, prefixLength }).value
  )
    prefixLength--
  return { address: firstOf({ address: first, prefixLength }), prefixLength }
}

type Taken = Record<TakenState | 'usable', number>

const nothing = (): Taken => ({ bound: 0, held: 0, cooling: 0, aside: 0, reserved: 0, usable: 0 })

/**
 * Counts what a block of a pool holds, by blocks in it: of 256 addresses each, where there are at most 256 of them; else
 * only those in which something is, and as fine as 256 of them allow. It needs memory for no more than these.
 */
export class BlockTally {
  readonly #within: Cidr
  readonly #run: Interval
  readonly #usable: UsableCount
  readonly #bits: number
  /** Whether every block is listed. */
  readonly whole: boolean
  #prefixLength: number
  /** By the index of the block in the whole. */
  #blocks = new Map<bigint, Taken>()

  constructor(pool: Pool, within: Cidr) {
    this.#within = within
    this.#run = { first: firstOf(within).value, last: lastOf(within).value }
    const { family } = within.address
    this.#usable = new UsableCount(pool, family)
    this.#bits = addressBits[family]
    this.#prefixLength = Math.max(within.prefixLength, this.#bits - blockBits)
    this.whole = this.#prefixLength - within.prefixLength <= blockBits
  }

  /** An address of the block; others are passed over. */
  add({ family, value }: Address, state: TakenState): void {
    if (family !== this.#within.address.family || value < this.#run.first || value > this.#run.last) return
    const index = this.#indexOf(value)
    let block = this.#blocks.get(index)
    if (!block) {
      this.#blocks.set(index, (block = nothing()))
      if (this.#blocks.size > 2 ** blockBits) {
        this.#coarsen()
        block = this.#blocks.get(this.#indexOf(value)) ?? block
      }
    }
    block[state]++
    if (this.#usable.has(value)) block.usable++
  }

  /** In the order of their addresses. */
  blocks(): CountedBlock[] {
    const count = 1n << BigInt(this.#prefixLength - this.#within.prefixLength)
    const indexes = this.whole
      ? Array.from({ length: Number(count) }, (_, index) => BigInt(index))
      : [...this.#blocks.keys()].sort((a, b) => (a < b ? -1 : 1))
    const { family } = this.#within.address
    return indexes.map(index => {
      const first = this.#run.first + (index << this.#shift)
      const cidr = { address: { family, value: first }, prefixLength: this.#prefixLength }
      const run = { first, last: lastOf(cidr).value }
      return { cidr, counts: this.#countsOf(run, this.#blocks.get(index) ?? nothing()) }
    })
  }

  /** Of the whole block. */
  counts(): BlockCounts {
    const sum = nothing()
    for (const block of this.#blocks.values())
      for (const key of Object.keys(sum) as (keyof Taken)[]) sum[key] += block[key]
    return this.#countsOf(this.#run, sum)
  }

  get #shift(): bigint {
    return BigInt(this.#bits - this.#prefixLength)
  }

  #indexOf(value: bigint): bigint {
    return (value - this.#run.first) >> this.#shift
  }

  #coarsen(): void {
    const step = Math.min(growth, this.#prefixLength - this.#within.prefixLength - blockBits)
    this.#prefixLength -= step
    const merged = new Map<bigint, Taken>()
    for (const [index, block] of this.#blocks) {
      const wider = index >> BigInt(step)
      const present = merged.get(wider)
      if (!present) merged.set(wider, block)
      else for (const key of Object.keys(present) as (keyof Taken)[]) present[key] += block[key]
    }
    this.#blocks = merged
    if (merged.size > 2 ** blockBits) this.#coarsen()
  }

  /** What lies outside of the pool, or is never given, and somebody has nevertheless, counts as his. */
  #countsOf({ first, last }: Interval, taken: Taken): BlockCounts {
    const usable = this.#usable.within({ first, last })
    const { bound, held, cooling, aside, reserved } = taken
    const others = bound + held + cooling + aside + reserved - taken.usable
    return {
      bound: BigInt(bound),
      held: BigInt(held),
      cooling: BigInt(cooling),
      aside: BigInt(aside),
      reserved: BigInt(reserved),
      free: usable - BigInt(taken.usable),
      unusable: last - first + 1n - usable - BigInt(others),
    }
  }
}

/** Counts the addresses that a pool can give in a run, without walking them; its ranges do not overlap. */
export class UsableCount {
  readonly #runs: readonly Interval[]
  /** How many addresses there are before each run. */
  readonly #before: readonly bigint[]

  constructor(pool: Pool, family: 4 | 6) {
    const ranges = pool.rangeSets.flat().filter(range => range.family === family)
    this.#runs = ranges.flatMap(({ usable }) => usable).sort((a, b) => (a.first < b.first ? -1 : 1))
    let sum = 0n
    this.#before = this.#runs.map(({ first, last }) => {
      const before = sum
      sum += last - first + 1n
      return before
    })
  }

  has(value: bigint): boolean {
    return this.within({ first: value, last: value }) === 1n
  }

  within({ first, last }: Interval): bigint {
    return this.#upTo(last) - this.#upTo(first - 1n)
  }

  #upTo(value: bigint): bigint {
    let low = 0
    let high = this.#runs.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#runs[middle]?.first ?? 0n) <= value) low = middle + 1
      else high = middle
    }
    const run = this.#runs[low - 1]
    if (!run) return 0n
    return (this.#before[low - 1] ?? 0n) + (value < run.last ? value : run.last) - run.first + 1n
  }
}

import { parseAddress, type Address, type Family } from '../../../shared/net/address.ts'
import { withoutPrefix } from '../../../shared/net/address-text.ts'
import { lowerBound } from './lower-bound.ts'
import { without, type Interval } from './pool.ts'

/** An address of the node, and where it has it. */
export interface OwnAddress {
  /** In CIDR notation. */
  readonly cidr: string
  readonly link: string
}

interface Entry extends OwnAddress {
  readonly value: bigint
}

/**
 * Addresses that the node itself has, on whichever of its links: no pod gets one. The node takes packets to them for its own,
 * and answers for them on all its links, so a pod with such an address would not be reached.
 */
export class OwnAddresses {
  readonly #sorted: Readonly<Record<Family, readonly Entry[]>>

  constructor(all: Iterable<OwnAddress>) {
    const sorted: Record<Family, Entry[]> = { 4: [], 6: [] }
    for (const { cidr, link } of all) {
      const address = parseAddress(withoutPrefix(cidr))
      if (address) sorted[address.family].push({ value: address.value, cidr, link })
    }
    for (const family of [4, 6] as const)
      sorted[family].sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0))
    this.#sorted = sorted
  }

  /** undefined where the node does not have the address. */
  find({ family, value }: Address): OwnAddress | undefined {
    const found = this.#sorted[family][this.#firstFrom(family, value)]
    return found?.value === value ? found : undefined
  }

  /** What they leave of a run: the run itself, as a rule. */
  leftOf(family: Family, run: Interval): readonly Interval[] {
    const own = this.#sorted[family]
    const gaps: Interval[] = []
    for (let at = this.#firstFrom(family, run.first); ; at++) {
      const entry = own[at]
      if (!entry || entry.value > run.last) break
      gaps.push({ first: entry.value, last: entry.value })
    }
    return gaps.length === 0 ? [run] : without(run, gaps)
  }

  /** The place of the first one that is not below the value: a node of a service mesh may have thousands. */
  #firstFrom(family: Family, value: bigint): number {
    return lowerBound(this.#sorted[family], own => own.value < value)
  }
}

/** Where nobody looks at a node. */
export const noOwnAddresses = new OwnAddresses([])

import type { Interval } from '../../ipam/pools/pool.ts'

/** So many are remembered: a node replaces few pods at a time. */
const mostRemembered = 256

/**
 * Addresses that a node had and that nobody has had since. In a pool that is almost full every node sees the same few free
 * ones; while each goes back to its own, they do not meet.
 */
export class LateOwn {
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

  /** One of the interval, the longest free first. `isFree`: it may be reserved, or be there in a form nobody can read. */
  find({ first, last }: Interval, isFree: (address: bigint) => boolean): bigint | undefined {
    for (const address of this.#addresses)
      if (address >= first && address <= last && isFree(address)) return address
    return undefined
  }
}

import { blockOf } from '../../ipam/pools/block-affinity.ts'

/** Which nodes have addresses of which stripes, and how many. */
export class StripeOwners {
  readonly #nodes = new Map<bigint, Map<string, number>>()

  /** @param step 1 when the node has one more, -1 when one less */
  count(address: bigint, node: string, step: 1 | -1): void {
    const stripe = blockOf(address)
    let nodes = this.#nodes.get(stripe)
    if (!nodes) this.#nodes.set(stripe, (nodes = new Map<string, number>()))
    const count = (nodes.get(node) ?? 0) + step
    if (count === 0) nodes.delete(node)
    else nodes.set(node, count)
    if (nodes.size === 0) this.#nodes.delete(stripe)
  }

  /** @param stripe its first address */
  hasOthers(stripe: bigint, node: string): boolean {
    const nodes = this.#nodes.get(stripe)
    return nodes !== undefined && nodes.size > (nodes.has(node) ? 1 : 0)
  }
}

import {
  blockOf,
  affinityBlockSize,
  type BlockView,
} from '../../ipkeeper-server/ipam/pools/block-affinity.ts'
import type { Interval } from '../../ipkeeper-server/ipam/pools/pool.ts'

const stripeBits = Math.log2(Number(affinityBlockSize))

/**
 * Which addresses of one network are taken, and by which nodes: what a ledger answers from its intervals and indexes, in
 * arrays, so that a simulation has one for every moment. Nodes are numbers, addresses those from the network's on.
 */
export class AddressTable {
  /** 0: free. */
  readonly #taken: Uint8Array
  readonly #owner: Int32Array
  /** By stripe: its nodes, and how many addresses each has. */
  readonly #nodes: Map<number, number>[]
  readonly run: Interval

  /** @param run what may be given, from a multiple of a stripe's size on */
  constructor(run: Interval) {
    this.run = run
    const size = Number(run.last - this.#base) + 1
    this.#taken = new Uint8Array(size).fill(1, 0, Number(run.first - this.#base))
    this.#owner = new Int32Array(size).fill(-1)
    this.#nodes = Array.from({ length: (size >> stripeBits) + 1 }, () => new Map<number, number>())
  }

  get #base(): bigint {
    return blockOf(this.run.first)
  }

  copy(): AddressTable {
    const copy = new AddressTable(this.run)
    copy.#taken.set(this.#taken)
    copy.#owner.set(this.#owner)
    for (const [index, nodes] of this.#nodes.entries())
      for (const [node, count] of nodes) copy.#nodes[index]?.set(node, count)
    return copy
  }

  isTaken(address: number): boolean {
    return this.#taken[address] !== 0
  }

  take(address: number, node: number): void {
    this.#taken[address] = 1
    this.#owner[address] = node
    this.#count(address, node, 1)
  }

  free(address: number): void {
    const node = this.#owner[address] ?? -1
    this.#taken[address] = 0
    this.#owner[address] = -1
    this.#count(address, node, -1)
  }

  #count(address: number, node: number, step: 1 | -1): void {
    const nodes = this.#nodes[address >> stripeBits]
    const count = (nodes?.get(node) ?? 0) + step
    if (count === 0) nodes?.delete(node)
    else nodes?.set(node, count)
  }

  /** The lowest address of the part that is free, but for those; -1: none. */
  firstFree(first: number, last: number, but: ReadonlySet<number>): number {
    for (let from = first; ;) {
      const found = this.#taken.indexOf(0, from)
      if (found < 0 || found > last) return -1
      if (!but.has(found)) return found
      from = found + 1
    }
  }

  /** As a node sees it that has asked for some addresses just now. */
  viewOf(node: number, asked: ReadonlySet<number>): BlockView {
    const base = this.#base
    return {
      firstFree: ({ first, last }) => {
        const found = this.firstFree(Number(first - base), Number(last - base), asked)
        return found < 0 ? undefined : base + BigInt(found)
      },
      // Pods come to nodes by chance here, and seldom to the one that gave an address up.
      recentlyReleased: () => undefined,
      isOfOtherNode: stripe => {
        const nodes = this.#nodes[Number(stripe - base) >> stripeBits]
        return nodes !== undefined && nodes.size > (nodes.has(node) ? 1 : 0)
      },
    }
  }

  toOffset(address: bigint): number {
    return Number(address - this.#base)
  }

  /**
   * What routes to all addresses there are: a stripe to the node that has most of it, and one for each address in it that
   * is another node's.
   */
  routes(): { readonly stripes: number; readonly strays: number } {
    let [stripes, strays] = [0, 0]
    for (const nodes of this.#nodes) {
      const counts = [...nodes.values()]
      if (counts.length === 0) continue
      stripes++
      strays += counts.reduce((sum, count) => sum + count, 0) - Math.max(...counts)
    }
    return { stripes, strays }
  }
}

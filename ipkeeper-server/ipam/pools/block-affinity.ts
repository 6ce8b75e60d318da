import type { Interval } from './pool.ts'

/**
 * Where in a range a node looks for a free address: block affinity. Nodes that share a ledger, and see of each other what was
 * a moment ago, would all reach for the lowest one and conflict there, once for each address. So a range is divided into blocks
 * of equal size, and each node goes through them in an order of its own. Who gets an address the store decides; this only makes
 * it rare that two nodes ask for the same (docs/operations/scale.md has the figures).
 */

/** Addresses of a block, aligned to its size, so that each is one prefix: /26 and /122. */
export const affinityBlockSize = 64n

/** Blocks in which a node looks for one without addresses of other nodes. */
const blocksForAffinity = 16

/** Blocks in which it looks at all, before it takes whatever is left. */
const blocksAtMost = 512

/** FNV-1a with 32 bits: spreads names evenly, the same on every node and in every version. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  // The low bits of FNV alone are poor for names that differ in their last figure.
  return Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) >>> 0
}

/** The block that an address is in, by its first address. */
export function blockOf(value: bigint): bigint {
  return value - (value % affinityBlockSize)
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b)
}

/** The parts of the run that are in one block each, in the node's order, from a beginning of its own. */
export function* blocksFor(node: string, { first, last }: Interval): Generator<Interval, undefined> {
  const begin = blockOf(first)
  const count = (last - begin) / affinityBlockSize + 1n
  // A step of its own as well: those that leave full blocks behind would meet in the next one.
  let step = 1n + (BigInt(hash(`step ${node}`)) % count)
  while (greatestCommonDivisor(step, count) !== 1n) step++
  let index = BigInt(hash(node)) % count
  for (let looked = 0n; looked < count; looked++) {
    const block = begin + index * affinityBlockSize
    const end = block + affinityBlockSize - 1n
    yield { first: block < first ? first : block, last: end > last ? last : end }
    index = (index + step) % count
  }
}

/** What a node sees of a range. */
export interface BlockView {
  /** The lowest free address of the interval. */
  firstFree(interval: Interval): bigint | undefined
  /** Whether another node has an address of the block, given by its first address. */
  isOfOtherNode(block: bigint): boolean
  /** A free address of the interval that this node released recently. */
  recentlyReleased(interval: Interval): bigint | undefined
}

/**
 * The address that a node takes: the lowest free one of a block that it has to itself, so that no other node comes in between
 * and one route leads to all of it; else one that it released recently, since others have theirs; else one of the first block
 * that has any. There it begins at a place of its own: those who take the lowest one after the other would go ahead of what it sees,
 * from conflict to conflict.
 */
export function chooseInBlocks(node: string, run: Interval, view: BlockView): bigint | undefined {
  let amongOthers: Interval | undefined
  let looked = 0
  for (const block of blocksFor(node, run)) {
    const free = view.firstFree(block)
    if (free !== undefined && !view.isOfOtherNode(blockOf(free))) return free
    if (free !== undefined) amongOthers ??= block
    looked++
    if (looked >= (amongOthers === undefined ? blocksAtMost : blocksForAffinity)) break
  }
  const released = view.recentlyReleased(run)
  if (released !== undefined) return released
  if (!amongOthers) return view.firstFree(run)
  const { first, last } = amongOthers
  const place = blockOf(first) + (BigInt(hash(`place ${node}`)) % affinityBlockSize)
  const after = place > first && place <= last ? view.firstFree({ first: place, last }) : undefined
  return after ?? view.firstFree(amongOthers)
}

/** At most so many of those that have rested longest are as good as one another, and never more than half of all. */
const reusable = 128

/**
 * Those that have rested longest, in an order of the node's own: what may be used again is the same for all nodes, and all
 * would take the first of it. What the node itself gave up comes first: pods that replace one another on their nodes hardly
 * ever meet then.
 *
 * @param resting the longest rested first, with the node that had it
 * @param count how many they are
 */
export function inOrderOf(
  node: string,
  resting: Iterable<{ readonly key: string; readonly node: string }>,
  count: number,
): readonly string[] {
  const wanted = Math.min(reusable, Math.ceil(count / 2))
  const own: string[] = []
  const ranked: { readonly key: string; readonly rank: number }[] = []
  for (const { key, node: by } of resting) {
    if (by === node) own.push(key)
    else ranked.push({ key, rank: hash(`${node} ${key}`) })
    if (own.length + ranked.length === wanted) break
  }
  return [...own, ...ranked.sort((a, b) => a.rank - b.rank).map(({ key }) => key)]
}

import type { Interval } from './pool.ts'

/**
 * Where in a range a node begins to look for a free address. Nodes that share a ledger would all reach for the lowest one
 * and meet there, once for each address; so a range is thought of as stripes of equal size, each node begins at one of its
 * own, by its name, and goes on to the next when that is full, round and round.
 */

/** Addresses of a stripe, aligned to its size, so that each is one prefix: /26 and /122. */
export const stripeSize = 64n

/** FNV-1a with 32 bits: spreads names evenly, the same on every node and in every version. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0
  // The low bits of FNV alone are poor for names that differ in their last figure.
  return Math.imul(value ^ (value >>> 15), 0x2c1b3c6d) >>> 0
}

/** The stripe that an address is in, by its first address. */
export function stripeOf(value: bigint): bigint {
  return value - (value % stripeSize)
}

/** The first address of the run that is in the node's own stripe of it. */
export function stripeStart(node: string, { first, last }: Interval): bigint {
  const begin = stripeOf(first)
  const stripes = (last - begin) / stripeSize + 1n
  const start = begin + (BigInt(hash(node)) % stripes) * stripeSize
  return start < first ? first : start
}

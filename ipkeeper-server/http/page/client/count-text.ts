/** A count of the API: a number, or decimal text above 2^53. */
export type Count = number | string

/** "18,446,744,073,709,551,612": the digits of every count are shown, in groups. */
export function countText(count: Count): string {
  return BigInt(count)
    .toString()
    .replaceAll(/\B(?=(?:[0-9]{3})+$)/g, ',')
}

export function sumOf(counts: Iterable<Count>): bigint {
  let sum = 0n
  for (const count of counts) sum += BigInt(count)
  return sum
}

/** Per cent of the whole, rounded up so that one of many is seen; 0 only for none. */
export function shareOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 100n + whole - 1n) / whole)
}

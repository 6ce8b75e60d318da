import { crc32 } from 'node:zlib'

/**
 * Checksums of rows, so that a flipped bit is an error and no other address. CRC-32 sees every burst of up to 32 bits, and lets
 * one of four thousand million other changes pass; what is lost or doubled as a whole is seen by the seal (seal.ts). It protects
 * from disks, not from people, who could compute it as well.
 *
 * What a row's sum is made of is part of the layout: rows of old are compared with it for ever.
 */
const seeds = new Map<string, number>()

function seedOf(kind: string): number {
  let seed = seeds.get(kind)
  if (seed === undefined) seeds.set(kind, (seed = crc32(kind)))
  return seed
}

export function recordSum(kind: string, key: string, generation: number, body: string): number {
  // A sum as the start of the next one: as good as all of it in one text, and nothing is copied.
  return crc32(body, crc32(key, (seedOf(kind) + generation) >>> 0))
}

export function noteSum(kind: string, key: string, body: string): number {
  return crc32(body, crc32(key, seedOf(kind)))
}

export function historySum(
  segment: string,
  address: string,
  at: number,
  ends: number | null,
  body: string,
): number {
  return crc32(body, crc32(`${segment} ${address} ${at} ${ends ?? '-'}`))
}

/** For steps of the layout, which fill in the sums of rows that are there. */
export const sqlFunctions: Readonly<Record<string, (...values: readonly unknown[]) => number>> = {
  record_sum: (kind, key, generation, body) =>
    recordSum(String(kind), String(key), Number(generation), String(body)),
  note_sum: (kind, key, body) => noteSum(String(kind), String(key), String(body)),
  history_sum: (segment, address, at, ends, body) =>
    historySum(
      String(segment),
      String(address),
      Number(at),
      ends === null ? null : Number(ends),
      String(body),
    ),
}

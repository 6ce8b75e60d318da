import { parseAddress } from '../../../shared/net/address.ts'

export interface Located {
  readonly segment: string
  readonly address: string
}

/** A record, and where its address stands in the order. */
export interface Keyed<T> {
  readonly item: T
  readonly family: number
  readonly value: bigint
}

export function keyed<T extends Located>(item: T): Keyed<T> {
  const address = parseAddress(item.address)
  return { item, family: address?.family ?? 0, value: address?.value ?? 0n }
}

/** By segment, IPv4 before IPv6, then by number. */
export function byPlace(a: Keyed<Located>, b: Keyed<Located>): number {
  if (a.item.segment !== b.item.segment) return a.item.segment < b.item.segment ? -1 : 1
  if (a.family !== b.family) return a.family - b.family
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0
}

/** By segment, then by address. Each is parsed once: listings may be long. */
export function inAddressOrder<T extends Located>(items: Iterable<T>): T[] {
  return Array.from(items, keyed)
    .sort(byPlace)
    .map(({ item }) => item)
}

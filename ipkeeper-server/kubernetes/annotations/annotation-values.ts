/** Kinds of values that several keys have in common. */
import { parseMac } from '../../../shared/net/mac.ts'
import { candidateLists } from '../../ipam/request/candidates.ts'
import {
  parseAddressRequest,
  overlapOf,
  tooLong,
  type AddressRun,
} from '../../ipam/request/parse-addresses.ts'
import type { AddressRequest, CandidateList } from '../../ipam/request/request.ts'
import { invalidAnnotation, invalidList, noAddress, type Annotation } from './annotation-reader.ts'

/** Whether a "/prefix" may follow an address. */
export type Prefixes = 'with-prefix' | 'bare'

function readAddress(annotation: Annotation, part: string, prefixes: Prefixes): AddressRequest {
  const text = part.trim()
  const request = parseAddressRequest(text, annotation.source, 'annotation')
  if (!request || (prefixes === 'bare' && request.prefixLength !== undefined))
    throw noAddress(annotation, text)
  return request
}

/** Addresses of which each family has at most one. */
export function readAddressPerFamily(
  annotation: Annotation,
  parts: readonly string[],
  prefixes: Prefixes,
): readonly AddressRequest[] {
  const addresses = parts.map(part => readAddress(annotation, part, prefixes))
  for (const family of [4, 6] as const) {
    if (addresses.filter(request => request.address.family === family).length > 1) {
      throw invalidAnnotation(annotation, `names more than one IPv${family} address`)
    }
  }
  return addresses
}

/**
 * Candidates given one entry a pod, each with one address or with one of each family. All entries have to name the same
 * families: the Nth address of a family is to be that of the Nth entry.
 */
export function readEntries(
  annotation: Annotation,
  entries: readonly (readonly string[])[],
  prefixes: Prefixes,
): readonly CandidateList[] {
  const long = tooLong(annotation.value)
  if (long) throw invalidList(annotation, long)
  const named = entries.map(parts => readAddressPerFamily(annotation, parts, prefixes))
  const familiesOf = (entry: readonly AddressRequest[]): string =>
    [4, 6].filter(family => entry.some(({ address }) => address.family === family)).join()
  const odd = named.findIndex(entry => familiesOf(entry) !== familiesOf(named[0] ?? []))
  if (odd >= 0) {
    throw invalidAnnotation(annotation, `names other families in entry ${odd + 1} than in entry 1`)
  }
  const runs = named.flatMap((entry, index) =>
    entry.map(({ address, prefixLength }, place): AddressRun => ({
      family: address.family,
      first: address.value,
      last: address.value,
      ...(prefixLength !== undefined && { prefixLength }),
      text: entries[index]?.[place]?.trim() ?? '',
    })),
  )
  const overlap = overlapOf(runs)
  if (overlap) throw invalidList(annotation, overlap)
  return candidateLists(runs, annotation.source)
}

/** A MAC address in lower case. */
export function readMac(annotation: Annotation): string {
  const mac = parseMac(annotation.value)
  if (mac === undefined) {
    throw invalidAnnotation(annotation, 'is no unicast MAC address such as 02:42:ac:11:00:02')
  }
  return mac
}

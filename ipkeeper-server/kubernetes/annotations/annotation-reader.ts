import { showJson } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import {
  parseAddressRequest,
  overlapOf,
  tooLong,
  type AddressRun,
  type ListFault,
} from '../../ipam/request/parse-addresses.ts'
import type { PodRequest, AddressRequest, CandidateList } from '../../ipam/request/request.ts'
import { parseMac } from '../../../shared/net/mac.ts'
import { candidateLists } from '../../ipam/request/candidates.ts'

/** A key with its value, on a pod or on a namespace. */
export interface Annotation {
  /** Names it in errors and records, e.g. "annotation ipkeeper.io/pool of namespace shop". */
  readonly source: string
  /** Without blanks at its ends, and not empty. */
  readonly value: string
  /** What to do about a value that makes no sense, where the catalogue's words do not fit. */
  readonly hint?: string
}

/** What one annotation asks for. */
type Asked = Partial<Omit<PodRequest, 'ignored' | 'retainSource'>>

/** An annotation with what it asks for. */
export type Wish = Annotation & Asked

/** Reads the value of one key; throws IPK_ANNOTATION_INVALID or IPK_ADDRESS_INVALID. */
export type AnnotationReader = (annotation: Annotation) => Asked

const withHint = ({ hint }: Annotation): { hint?: string } => (hint === undefined ? {} : { hint })

/** `expected` completes the sentence that begins with the value: "is no retention: ...". */
export function invalidAnnotation(annotation: Annotation, expected: string): Problem {
  const { source, value } = annotation
  return new Problem(
    'IPK_ANNOTATION_INVALID',
    `${source}: ${showJson(value)} ${expected}`,
    withHint(annotation),
  )
}

/** For a part of the value that had to be an address. */
export function noAddress(annotation: Annotation, part: string): Problem {
  const { source, value } = annotation
  const message = `${source}: ${showJson(part)} is no IP address (value ${showJson(value)})`
  return new Problem('IPK_ADDRESS_INVALID', message, withHint(annotation))
}

/** For a list that cannot be read. */
export function invalidList(annotation: Annotation, { fault, reason }: ListFault): Problem {
  const { source, value } = annotation
  return new Problem(
    fault === 'item' ? 'IPK_ADDRESS_INVALID' : 'IPK_ANNOTATION_INVALID',
    `${source}: ${reason} (value ${showJson(value)})`,
    withHint(annotation),
  )
}

/** Names both annotations with their values. */
export function disagreement(one: Annotation, other: Annotation): Problem {
  const show = ({ source, value }: Annotation): string => `${source} (${showJson(value)})`
  return new Problem('IPK_REQUESTS_DISAGREE', `${show(one)} and ${show(other)} disagree`)
}

/** Kinds of values that several keys have in common. */

/** Whether a "/prefix" may follow an address. */
type Prefixes = 'with-prefix' | 'bare'

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

/**
 * The annotations by which another project's pods ask for addresses: the whole key, and how its value is read. Keys of that
 * project which are not in the table mean nothing here.
 */
export type Dialect = Readonly<Record<string, AnnotationReader>>

import { showJson } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { ListFault } from '../../ipam/request/parse-addresses.ts'
import type { PodRequest } from '../../ipam/request/request.ts'

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
export type Asked = Partial<Omit<PodRequest, 'ignored' | 'retainSource'>>

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

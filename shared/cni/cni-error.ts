import { problemRow, type ProblemCode, catalogue } from '../problem/catalogue.ts'
import type { Verb } from './versions.ts'

/** The error object of the specification, as it goes to stdout. */
export interface CniErrorDocument {
  readonly cniVersion: string
  readonly code: number
  readonly msg: string
  readonly details?: string
}

/** What a Problem's document and an error reply of the daemon have in common; a reply has a request ID as well. */
export interface CniFailure {
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly cniCode: number
  readonly details: string
  readonly requestId?: string
}

/**
 * What runtimes look for in the text of a failed DEL to take it for a success, and what to say instead: an address
 * would be lost for ever (cni-protocol F1: go-cni Remove, cri-dockerd deleteFromNetwork).
 */
const swallowed: readonly (readonly [RegExp, string])[] = [
  [/not found/gi, 'missing'],
  [/no such file or directory/gi, 'path does not exist'],
]

function isKnown(code: string): code is ProblemCode {
  return Object.hasOwn(catalogue, code)
}

/**
 * The error document of a failure. Runtimes show `msg; details`, so details ends with what to do, our own code and the
 * request to look for in the daemon's log. Where the reference library words the error (`fixedText`), details is the
 * library's alone.
 */
export function cniErrorDocument(
  failure: CniFailure,
  cniVersion: string,
  verb: Verb | undefined,
): CniErrorDocument {
  const say = (text: string): string =>
    verb === 'DEL'
      ? swallowed.reduce((safe, [pattern, instead]) => safe.replace(pattern, instead), text)
      : text
  const details = say(detailsOf(failure))
  return {
    cniVersion,
    code: failure.cniCode,
    msg: say(failure.message),
    ...(details !== '' && { details }),
  }
}

function detailsOf(failure: CniFailure): string {
  if (isKnown(failure.code) && problemRow(failure.code).fixedText) return failure.details
  const mark =
    failure.requestId === undefined ? failure.code : `${failure.code}, request ${failure.requestId}`
  return [failure.details, failure.hint, `[${mark}]`].filter(part => part !== '').join('; ')
}

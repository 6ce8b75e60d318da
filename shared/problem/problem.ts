import { catalogue, type ProblemCode } from './catalogue.ts'

/** What a problem looks like on the wire and in logs; the body of every error reply of the daemon. */
export interface ProblemDocument {
  readonly code: ProblemCode
  /** One line that names the thing, the value and who is in the way. */
  readonly message: string
  /** What to do next, with the command to type where there is one. */
  readonly hint: string
  /** Whether the same request can succeed later without anybody changing it. */
  readonly retryable: boolean
  /** The code of the CNI error document (CNI SPEC, section "Error"; 100 and up are ours). */
  readonly cniCode: number
  readonly details: string
}

export interface ProblemOptions {
  readonly hint?: string
  readonly details?: string
  readonly cause?: unknown
}

/** An error of the closed catalogue. Anything else that is thrown is a bug and becomes IPK_INTERNAL at the edge. */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly hint: string
  readonly details: string

  constructor(code: ProblemCode, message: string, options: ProblemOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Problem'
    this.code = code
    this.hint = options.hint ?? catalogue[code].hint
    this.details = options.details ?? ''
  }

  toDocument(): ProblemDocument {
    const { retryable, cniCode } = catalogue[this.code]
    return {
      code: this.code,
      message: this.message,
      hint: this.hint,
      retryable,
      cniCode,
      details: this.details,
    }
  }
}

/** Turns whatever was thrown into a problem; what the catalogue does not know is an internal error and keeps its text. */
export function toProblem(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown
  const text = thrown instanceof Error ? thrown.message : String(thrown)
  return new Problem('IPK_INTERNAL', `internal error: ${text}`, { cause: thrown })
}

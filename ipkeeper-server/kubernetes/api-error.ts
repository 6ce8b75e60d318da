/**
 * Why a request to the Kubernetes API brought no answer: `status` where the server gave one, else none. The message holds
 * method, path and what was said, and nothing of the credentials.
 */
export class ApiError extends Error {
  readonly status: number | undefined
  /** Of the `Status` object, such as NotFound, Expired, AlreadyExists. */
  readonly reason: string | undefined
  /** `details.name` of the `Status` object: what a NotFound did not find. */
  readonly about: string | undefined
  /** Milliseconds the server asks to be left alone for. */
  readonly retryAfter: number | undefined
  /** The network's own code, such as ECONNREFUSED. */
  readonly code: string | undefined

  constructor(
    message: string,
    facts: {
      readonly status?: number
      readonly reason?: string | undefined
      readonly about?: string | undefined
      readonly retryAfter?: number | undefined
      readonly code?: string | undefined
      readonly cause?: unknown
    } = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = 'ApiError'
    this.status = facts.status
    this.reason = facts.reason
    this.about = facts.about
    this.retryAfter = facts.retryAfter
    this.code = facts.code
  }
}

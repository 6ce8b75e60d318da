import { isJsonObject, type JsonObject } from '../../shared/json/fold.ts'

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

/** Longest foreign text that a message repeats. */
const shown = 500

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** "Retry-After" as apiserver sends it: whole seconds (RFC 9110, section 10.2.3; it never sends a date). */
function seconds(value: unknown): number | undefined {
  const number = Number(value)
  return value !== undefined && value !== '' && Number.isFinite(number) && number >= 0
    ? number * 1000
    : undefined
}

/**
 * What an answer of 300 and above, or an ERROR event of a watch, says (API conventions, "Response Status Kind").
 * Anything but a `Status` comes from something in between, such as a proxy, and is repeated cut.
 */
export function statusError(
  request: string,
  httpStatus: number,
  body: unknown,
  retryAfter?: string,
): ApiError {
  const status: JsonObject = isJsonObject(body) && body['kind'] === 'Status' ? body : {}
  const details = isJsonObject(status['details']) ? status['details'] : {}
  const code = typeof status['code'] === 'number' ? status['code'] : httpStatus
  const said = text(status['message']) ?? text(body) ?? ''
  const reason = text(status['reason'])
  const what = [String(code), reason].filter(Boolean).join(' ')
  return new ApiError(`${request}: ${what}${said === '' ? '' : `: ${said.trim().slice(0, shown)}`}`, {
    status: code,
    reason,
    about: text(details['name']),
    retryAfter: seconds(retryAfter) ?? seconds(details['retryAfterSeconds']),
  })
}

/** What went wrong, as people read it. */
export class ApiRefusal extends Error {}

/** Nobody answered: it may be better soon. */
export class Unanswered extends ApiRefusal {}

interface ErrorDocument {
  readonly message?: unknown
  readonly hint?: unknown
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Milliseconds by which the daemon's clock is ahead of ours: who looks through a tunnel may have another one. */
let ahead = 0

/** The daemon's time, to a second: its moments are compared with this. Milliseconds since the epoch. */
export const daemonNow = (): number => Date.now() + ahead

/** A GET of the daemon's API; the reply is of the schema that the API has for it. Throws an ApiRefusal with the daemon's own words. */
export async function ask<T>(url: string): Promise<T> {
  const reply = await fetch(url, { headers: { accept: 'application/json' } }).catch(() => {
    throw new Unanswered('the daemon does not answer')
  })
  const date = Date.parse(reply.headers.get('date') ?? '')
  // It names a whole second; as much may be the way of the answer.
  if (!Number.isNaN(date)) ahead = Math.abs(date - Date.now()) < 2_000 ? 0 : date - Date.now()
  const body: unknown = await reply.json().catch(() => undefined)
  if (reply.ok && body !== undefined) return body as T
  const { message, hint } = (body ?? {}) as ErrorDocument
  const words = [textOf(message), textOf(hint)].filter(text => text !== '').join('; ')
  throw new ApiRefusal(words === '' ? `the daemon answered ${reply.status}` : words)
}

export const apiPath = (...parts: readonly string[]): string =>
  parts.map(part => `/${encodeURIComponent(part)}`).join('')

import type { LeaseRecord, AttachmentRecord } from './records.ts'

/** Milliseconds by which clocks of nodes may differ without anybody minding. */
const slack = 1000

/** Whether a lease began to be kept, or to rest, at a moment that is still to come: by a clock that is ahead, or was set back since. */
export function isAhead({ since, until }: Pick<LeaseRecord, 'since' | 'until'>, now: number): boolean {
  return until !== null && since > now + slack
}

/**
 * The lease, kept or resting for no longer from now on than it was to be in all: of one whose time begins in times to come
 * nobody can tell how much of it is over.
 */
export function withinSpan(lease: LeaseRecord, now: number): LeaseRecord {
  const { since, until } = lease
  if (until === null || !isAhead(lease, now)) return lease
  return { ...lease, since: now, until: now + Math.max(until - since, 0) }
}

/** The lease after the clock was set by so many milliseconds: it is kept, or rests, for as long as it would have. */
export function setBy(lease: LeaseRecord, by: number): LeaseRecord {
  const { since, until } = lease
  return until === null ? lease : { ...lease, since: since + by, until: until + by }
}

/** ISO 8601 with milliseconds, UTC, as replies have it. `time`: milliseconds since the epoch. */
export const isoTime = (time: number): string => new Date(time).toISOString()

/** ISO 8601 without fractions, UTC. `time`: milliseconds since the epoch. */
export function formatTime(time: number): string {
  return new Date(time).toISOString().replace(/\.[0-9]{3}Z$/, 'Z')
}

/** What ages are told by: CLOCK_MONOTONIC, in milliseconds, which nobody sets and which begins anew with each boot. */
export interface AgeClock {
  readonly now: number
  /** When this daemon had read its records. */
  readonly openedAt: number
  /** The present boot. */
  readonly bootId: string
}

/**
 * For how many milliseconds an attachment has been there, at the least: since its ADD was last answered, or its plugin was
 * started. One of another boot has been there for all of this one. One of which neither was recorded is of an older daemon
 * of this boot. Its `since` is of a clock that is set, and says nothing of its age.
 */
export function ageOf(
  { bootId, startedAt, answeredAt }: Pick<AttachmentRecord, 'bootId' | 'startedAt' | 'answeredAt'>,
  clock: AgeClock,
): number {
  if (bootId !== null && bootId !== clock.bootId) return clock.now
  const at = answeredAt ?? startedAt
  return at === null ? clock.now - clock.openedAt : clock.now - at / 1000
}

import type { LeaseRecord } from './records.ts'

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

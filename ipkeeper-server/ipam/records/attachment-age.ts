import type { AttachmentRecord } from './records.ts'

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

/** How many addresses of a pool were used or held at a moment. */
export interface Occupancy {
  /** Seconds of a clock that nobody sets. */
  readonly at: number
  readonly occupied: number
}

/** Seconds. */
export interface ExhaustionTerms {
  /** How far back growth is looked at. */
  readonly window: number
  /** Between two moments that are remembered. */
  readonly spacing: number
  /** What is known of less than that says nothing: the first pods after a start would look like a flood. */
  readonly leastSpan: number
}

export const exhaustionTerms: ExhaustionTerms = { window: 3_600, spacing: 60, leastSpan: 300 }

/** The moments to remember, the oldest first, when the present one is added to them. */
export function withOccupancy(
  past: readonly Occupancy[],
  present: Occupancy,
  { window, spacing }: ExhaustionTerms,
): readonly Occupancy[] {
  const kept = past.filter(({ at }) => present.at - at <= window)
  const newest = kept.at(-1)
  return newest && present.at - newest.at < spacing ? kept : [...kept, present]
}

/**
 * Seconds until a pool with so many free addresses is full, if it goes on growing as from the oldest of these moments to
 * the present one. 0 when it is full; Infinity when it does not grow, or too little is known.
 */
export function secondsToExhaustion(
  past: readonly Occupancy[],
  present: Occupancy,
  free: number,
  { leastSpan }: ExhaustionTerms,
): number {
  if (free <= 0) return 0
  const [oldest] = past
  if (!oldest || present.at - oldest.at < leastSpan) return Infinity
  const growth = (present.occupied - oldest.occupied) / (present.at - oldest.at)
  return growth > 0 ? free / growth : Infinity
}

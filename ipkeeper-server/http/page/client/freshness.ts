/** What is known of the connection by which the daemon tells of changes; times are milliseconds of one clock. */
export interface Contact {
  /** When something last came; undefined: nothing yet. */
  readonly heardAt: number | undefined
  /** Milliseconds after which something has to come. */
  readonly beat: number
  readonly open: boolean
}

export interface Freshness {
  readonly state: 'connecting' | 'live' | 'stale'
  readonly text: string
}

/** Beats that may be missed: a machine that is busy, or a tunnel. */
const missed = 2.5

/** @param clockTime of a moment, for people */
export function freshnessOf(
  { heardAt, beat, open }: Contact,
  now: number,
  clockTime: (moment: number) => string,
): Freshness {
  if (heardAt === undefined) return { state: 'connecting', text: 'Connecting' }
  if (open && now - heardAt <= missed * beat) return { state: 'live', text: 'Live' }
  return {
    state: 'stale',
    text: `Stale: no answer from the daemon since ${clockTime(heardAt)}. You see the state of that time; retrying.`,
  }
}

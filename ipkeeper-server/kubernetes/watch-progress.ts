/** How a reflector goes on: the decisions, without the doing. */

/** "cache": any state the server has at hand (cheap); "store": the newest (API concepts, "Resource versions"). */
export type ListFrom = 'cache' | 'store'

export type Phase =
  | { readonly next: 'list'; readonly from: ListFrom }
  | { readonly next: 'watch'; readonly resourceVersion: string }

export interface WatchProgress {
  readonly phase: Phase
  /** Attempts in a row that brought nothing. */
  readonly failures: number
  /** Watches in a row that could not be understood, or were refused, at one resource version. */
  readonly stuck: number
}

/**
 * What became of a phase. `resourceVersion`: the last one seen, from which a watch can go on. `proved`: the server gave an
 * event or kept the watch open for a while, so whatever was wrong before is over.
 */
export type PhaseOutcome =
  | { readonly kind: 'listed'; readonly resourceVersion: string }
  | {
      readonly kind: 'ended' | 'garbled'
      readonly resourceVersion: string
      readonly proved: boolean
    }
  /** Nothing was heard for a long time, which was wait enough. */
  | { readonly kind: 'silent'; readonly resourceVersion: string }
  | { readonly kind: 'expired'; readonly proved: boolean }
  | {
      readonly kind: 'failed'
      readonly status: number | undefined
      readonly retryAfter: number | undefined
      /** undefined for a list. */
      readonly resourceVersion: string | undefined
      readonly proved: boolean
      /** Nobody waits for it: somebody has to do something first, and may never do so. */
      readonly canWait?: boolean
    }

export interface WatchStep {
  readonly progress: WatchProgress
  /** Milliseconds to wait before; `jittered` makes a wait of it. */
  readonly pause: number
}

const shortest = 200
const longest = 30_000
/** Where nobody waits for it. */
const longestWait = 600_000
/** However long a server asks to be left alone for. */
const longestRetryAfter = 300_000
/** A resource version that a watch cannot get past is given up after so many tries. */
const patience = 3

/** Milliseconds before the next attempt, after so many in a row that brought nothing. */
export function backoff(failures: number, most = longest): number {
  return failures === 0 ? 0 : Math.min(most, shortest * 2 ** Math.min(failures - 1, 20))
}

/**
 * A wait between half the pause and all of it, never below the shortest: the daemons of all nodes lose a server at one
 * moment, and must not come back at one.
 */
export function jittered(pause: number, random: number): number {
  return pause === 0 ? 0 : Math.max(shortest, Math.round(pause * (0.5 + random / 2)))
}

export const beginning = (from: ListFrom): WatchProgress => ({
  phase: { next: 'list', from },
  failures: 0,
  stuck: 0,
})

/** Answers that say that this very watch cannot be had, and not that the server or our rights are out of order. */
const refusesTheWatch = (status: number | undefined): boolean =>
  status !== undefined && status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status)

export function afterOutcome(progress: WatchProgress, outcome: PhaseOutcome): WatchStep {
  if (outcome.kind === 'listed') {
    // Failures are not forgotten yet: a list that works and a watch that does not would make a loop of lists.
    const { resourceVersion } = outcome
    return { progress: { ...progress, phase: { next: 'watch', resourceVersion }, stuck: 0 }, pause: 0 }
  }
  if (outcome.kind === 'silent' || (outcome.kind === 'ended' && outcome.proved)) {
    const { resourceVersion } = outcome
    return { progress: { phase: { next: 'watch', resourceVersion }, failures: 0, stuck: 0 }, pause: 0 }
  }
  const before = outcome.proved ? 0 : progress.failures
  if (outcome.kind === 'expired') {
    // After a watch that had worked, nothing is wrong but the age of what we know: list at once.
    const failures = before + 1
    return {
      progress: { phase: { next: 'list', from: 'store' }, failures, stuck: 0 },
      pause: backoff(before),
    }
  }
  const failures = before + 1
  const asked = outcome.kind === 'failed' ? Math.min(outcome.retryAfter ?? 0, longestRetryAfter) : 0
  // The wait asked for is the least: twice of it, jittered, is never below it.
  const most = outcome.kind === 'failed' && outcome.canWait ? longestWait : longest
  const pause = Math.max(backoff(failures, most), 2 * asked)
  if (outcome.resourceVersion === undefined) {
    return { progress: { ...progress, failures }, pause }
  }
  const counts = outcome.kind === 'garbled' || (outcome.kind === 'failed' && refusesTheWatch(outcome.status))
  const stuck = counts ? (outcome.proved ? 1 : progress.stuck + 1) : 0
  const phase: Phase =
    stuck >= patience
      ? { next: 'list', from: 'store' }
      : { next: 'watch', resourceVersion: outcome.resourceVersion }
  return { progress: { phase, failures, stuck: phase.next === 'list' ? 0 : stuck }, pause }
}

/** What a run grants the daemon. */
export interface TimeLimits {
  /** Milliseconds for everything together. */
  readonly totalMs: number
  /** Milliseconds, from the first failure on, in which a daemon that is away is tried again. */
  readonly reachMs: number
}

/** The verbs that ask the daemon. */
export type DaemonVerb = 'ADD' | 'CHECK' | 'DEL' | 'GC' | 'STATUS'

interface VerbLimits {
  /** Milliseconds of a whole run. */
  readonly totalMs: number
  /** Milliseconds in which a daemon that is away is tried again; never longer than the configured timeout. */
  readonly reachMs: number
  /** Whether the configured timeout makes the whole run shorter, too. */
  readonly bounded: boolean
  /** Milliseconds of the fallback's own, where it does not share those of the run. */
  readonly fallbackMs?: number
}

/**
 * What each verb grants, far below the limits of the runtimes: CRI-O kills a DEL after 60 s and gives all of GC 30 s;
 * STATUS has no limit there, and comes every 5 s (cni-protocol part 2). A DEL need not wait for a daemon that is away: it
 * goes into the queue. A GC outlasts a restart of the daemon, not its absence; STATUS says what is true now.
 */
const verbLimits: Readonly<Record<DaemonVerb, VerbLimits>> = {
  ADD: { totalMs: Infinity, reachMs: 10_000, bounded: true },
  CHECK: { totalMs: 10_000, reachMs: 10_000, bounded: true },
  DEL: { totalMs: 10_000, reachMs: 0, bounded: true, fallbackMs: 20_000 },
  GC: { totalMs: 15_000, reachMs: 5_000, bounded: false },
  STATUS: { totalMs: 2_000, reachMs: 0, bounded: false },
}

/**
 * @param timeoutSeconds the configured timeout
 * @param elapsedMs what this run has spent already, reading stdin above all
 */
export function limitsFor(verb: DaemonVerb, timeoutSeconds: number, elapsedMs: number): TimeLimits {
  const { totalMs, reachMs, bounded } = verbLimits[verb]
  const granted = bounded ? Math.min(totalMs, timeoutSeconds * 1000) : totalMs
  const left = Math.max(0, granted - elapsedMs)
  return { totalMs: left, reachMs: Math.min(reachMs, timeoutSeconds * 1000, left) }
}

/** However long the daemon took, the fallback gets this: milliseconds. */
const leastForFallbackMs = 500

/**
 * Milliseconds that a fallback may take, of a run that has spent `elapsedMs` already. A DEL has them beside what the daemon
 * may take, so it ends within 30 s: CRI-O kills it after 60 s.
 */
export function fallbackLimitMs(verb: DaemonVerb, timeoutSeconds: number, elapsedMs: number): number {
  const { totalMs, bounded, fallbackMs } = verbLimits[verb]
  const granted = Math.min(fallbackMs ?? totalMs, bounded ? timeoutSeconds * 1000 : Infinity)
  return Math.max(leastForFallbackMs, fallbackMs === undefined ? granted - elapsedMs : granted)
}

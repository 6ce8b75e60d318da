import { systemClocks } from '../host/clock.ts'

/** What the effects of this folder know of time and chance; injected, so that tests decide both. */
export interface ClientClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds of a clock that never jumps: how long something has taken, how old something is. */
  readonly monotonic: () => number
  /** From 0 to below 1. */
  readonly random: () => number
}

export const systemClock: ClientClock = {
  now: systemClocks.wall,
  monotonic: systemClocks.monotonic,
  random: Math.random,
}

/** What this folder needs of a logger; pino's has it. */
export interface ClusterLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

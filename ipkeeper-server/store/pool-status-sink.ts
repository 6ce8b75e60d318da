import type { PoolVerdict } from '../ipam/pools/judge-pool-objects.ts'

/** Counts of addresses as people see them: used + held + free = capacity. */
export interface PoolFigures {
  readonly capacity: bigint
  readonly used: bigint
  readonly held: bigint
  readonly free: bigint
  /** Used of capacity: "2/3". */
  readonly ratio: string
}

/** Figures of a pool as people see them beside it: of all its addresses, and of each family that it has. */
export interface PoolStatus extends PoolFigures {
  readonly families: { readonly ipv4?: PoolFigures; readonly ipv6?: PoolFigures }
  /** Ranges in force: "10.22.0.0/24, fd00:22::/64". */
  readonly ranges: string
  /** Range sets, by their index, that have no free address: a pod needs one of each. */
  readonly exhausted: readonly number[]
  /** What is left in ranges that drain; undefined where none does. */
  readonly draining: { readonly whole: boolean; readonly left: bigint } | undefined
}

/** Where the figures of pools are shown to everybody, such as the status of an IPPool. */
export interface PoolStatusSink {
  /** Rejects when it could not be written; then it is tried again. A pool that is gone meanwhile is no reason to. */
  write(pool: string, status: PoolStatus): Promise<void>
}

/** Where it is published which spec of an IPPool is in force. */
export interface PoolVerdictSink {
  /**
   * Rejects when it could not be written; then it is tried again. An object that is another one meanwhile, or says something
   * else than what was judged, is left alone: whoever hears of that judges it anew.
   */
  publish(pool: string, verdict: PoolVerdict): Promise<void>
}

/** How much of everything one run of the benchmarks does. */
export interface Plan {
  readonly wholeProcess: WholeProcessPlan
  readonly daemon: DaemonPlan
  readonly pairs: PairsPlan
  readonly mainPlugin: MainPluginPlan
  readonly manyNodes: ManyNodesPlan
}

export interface WholeProcessPlan {
  /** Rounds that are not counted: page cache, the daemon's just-in-time compiler. */
  readonly warmUp: number
  readonly rounds: number
}

export interface DaemonPlan {
  /** Pairs before the first measurement, so that an unwarmed daemon does not flatter the ratio. */
  readonly warmUp: number
  /** Lease counts at which latency is measured; ascending, the first is 0. */
  readonly levels: readonly number[]
  /** ADD+DEL pairs of each sort at each level. */
  readonly samples: number
  /** ADDs of host-local at each level. */
  readonly hostLocalSamples: number
  /** The budget for memory holds at this level. */
  readonly memoryAt: number
  /** Leases in the store at the measured start. */
  readonly startWith: number
  readonly starts: number
}

export interface PairsPlan {
  readonly clients: number
  readonly warmUpMs: number
  readonly measureMs: number
}

export interface MainPluginPlan {
  /** Numbers of pods present; ascending, the first is 0. */
  readonly levels: readonly number[]
  /** Pairs of each contestant before the first measurement. */
  readonly warmUp: number
  /** How many ADDs run at a time; the first is 1. */
  readonly atOnce: readonly number[]
  /** ADDs and DELs of each program, one at a time. */
  readonly samples: number
  /** Rounds of as many at a time. */
  readonly crowds: number
  /** As many at a time as after a node's start, ascending, on a node without pods. */
  readonly bursts: readonly number[]
  readonly burstRounds: number
  /** Sandboxes through containerd. */
  readonly sandboxes: number
}

export interface ManyNodesPlan {
  /** Of the pool. An object of whereabouts has all of it: a /16 would not fit into etcd. */
  readonly prefixLength: number
  readonly percentFull: readonly number[]
  /** How many nodes at once; ascending. */
  readonly nodes: readonly number[]
  /** ADDs by which round trips are counted; so many addresses have to be free. */
  readonly countedAdds: number
  readonly measureMs: number
  /** Where whole processes are measured. */
  readonly processMs: number
}

/** What the budgets of DESIGN.md speak of: some minutes. */
export const fullPlan: Plan = {
  wholeProcess: { warmUp: 20, rounds: 250 },
  daemon: {
    warmUp: 2_000,
    levels: [0, 1_000, 10_000, 60_000],
    samples: 1_000,
    hostLocalSamples: 3,
    memoryAt: 10_000,
    startWith: 100_000,
    starts: 5,
  },
  pairs: { clients: 32, warmUpMs: 3_000, measureMs: 10_000 },
  mainPlugin: {
    ...{ levels: [0, 500], warmUp: 20, atOnce: [1, 20], samples: 60, crowds: 10, sandboxes: 30 },
    ...{ bursts: [50, 100], burstRounds: 4 },
  },
  manyNodes: {
    prefixLength: 20,
    percentFull: [10, 99],
    nodes: [1, 4, 10],
    countedAdds: 20,
    measureMs: 8_000,
    processMs: 20_000,
  },
}

/** The same steps, small: shows that the benchmark works, says little about speed. */
export const quickPlan: Plan = {
  wholeProcess: { warmUp: 1, rounds: 6 },
  daemon: {
    warmUp: 50,
    levels: [0, 100, 400],
    samples: 40,
    hostLocalSamples: 1,
    memoryAt: 100,
    startWith: 600,
    starts: 1,
  },
  pairs: { clients: 32, warmUpMs: 300, measureMs: 1_000 },
  mainPlugin: {
    ...{ levels: [0, 10], warmUp: 1, atOnce: [1, 4], samples: 3, crowds: 1, sandboxes: 2 },
    ...{ bursts: [8], burstRounds: 1 },
  },
  manyNodes: {
    prefixLength: 24,
    percentFull: [10, 90],
    nodes: [1, 2],
    countedAdds: 5,
    measureMs: 500,
    processMs: 500,
  },
}

/** One step of a decision, for `ipkeeperctl explain`; plans note them in the order in which they are taken. */
export interface Reason {
  readonly about: 'request' | 'workload' | 'pool' | 'address' | 'retention' | 'sandbox'
  /** Pool name, address, or who. */
  readonly subject: string
  readonly verdict: 'chosen' | 'dropped' | 'noted'
  readonly text: string
  /** Of a pool that was dropped: the problem that an ADD from it alone would get. */
  readonly code?: string
}

/** Where planning leaves its reasons; they are there even when it ends in a problem. */
export type Trace = Reason[]

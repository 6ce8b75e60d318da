import type { AddressBook } from '../pools/address-book.ts'
import type { Workload } from '../records/records.ts'
import type { AddRequest, AddTerms } from '../request/add-request.ts'
import type { Takeover } from './plan-takeover.ts'

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

/** What every step of one ADD is decided from. */
export interface AddContext {
  readonly book: AddressBook
  readonly request: AddRequest
  readonly terms: AddTerms
  /** Of the pod that asks; null for a container without one. */
  readonly workload: Workload | null
  /** What of its own the ADD may take, and from whom. */
  readonly takeover: Takeover
  /** undefined where nobody reads the reasons: then no text is made. */
  readonly trace: Trace | undefined
}

import type { Problem } from '../../shared/problem/problem.ts'
import type { Liveness } from '../ipam/add-request.ts'
import type { Silence } from '../ipam/node-silence.ts'
import type { Owner } from '../ipam/pod-facts.ts'
import type { PoolBook } from '../ipam/pool-book.ts'
import type { AttachmentRecord, Holder } from '../ipam/records.ts'
import type { Ledger } from './ledger.ts'
import type { PodNetwork } from './pod-network.ts'
import type { Serial } from './serial.ts'
import type { Tombstones } from './tombstones.ts'

/** What the verbs work with. One per daemon. */
export interface LeaseService {
  readonly ledger: Ledger
  readonly node: string
  readonly bootId: string
  /** As configured now: a reload replaces it. */
  readonly pools: () => PoolBook
  /** Operations on one attachment are serial. */
  readonly serial: Serial
  readonly tombstones: Tombstones
  /** Wires and unwires pods, in the main role. */
  readonly network: PodNetwork
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** What can be said of an attachment at this moment. */
  readonly liveness: (attachment: AttachmentRecord) => Liveness
  /** For how long another node has said nothing; absent where nodes share nothing. */
  readonly silenceOf?: (node: string) => Silence
  /** Why no ADD may be served now, whatever the ledger says; absent where nodes share nothing. */
  readonly refusal?: () => Problem | undefined
  /** The controller of a pod as known at this moment; undefined where nobody can tell. */
  readonly ownerOf: (holder: Holder, podUid: string | null) => Owner | null | undefined
}

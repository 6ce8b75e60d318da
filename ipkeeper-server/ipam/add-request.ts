import type { ResultDns, ResultRoute } from '../../shared/cni/result.ts'
import type { MainConfig } from '../network/plan/main-config.ts'
import type { Silence } from './node-silence.ts'
import type { Owner } from './pod-facts.ts'
import type { PoolBook } from './pool-book.ts'
import type { Whereabouts } from './pool-rules.ts'
import type { Pool } from './pool.ts'
import type { AttachmentKey, AttachmentRecord, Holder } from './records.ts'
import type { PodRequest, PoolRequest } from './request.ts'

/** What can be said of an attachment by who may attest it. Absence of proof is "unknown", never "dead". */
export type Liveness = 'dead' | 'unknown'

/** Everything one ADD is decided from, besides the address book. */
export interface AddRequest {
  readonly key: AttachmentKey
  readonly holder: Holder
  readonly podUid: string | null
  /** The pod's controller; null for none, undefined where nobody could tell. */
  readonly owner: Owner | null | undefined
  readonly node: string
  readonly bootId: string
  readonly netns: string
  readonly netnsInode: string | null
  readonly invocationId: string | null
  readonly startedAt: number | null
  /** The caller leaves a mark before it uses the answer (shared/answered-mark.ts); `invocationId` is fit for one. */
  readonly confirms?: boolean
  /** The pool of the network's own ranges; undefined where it has none. */
  readonly inline: Pool | undefined
  /** Pools that the network names ("ipam.pool"). */
  readonly networkPools: readonly PoolRequest[]
  /** Where the pod is to run, for the rules of pools. */
  readonly place: Whereabouts
  readonly routes: readonly ResultRoute[]
  readonly dns: ResultDns
  /** Type of the IPAM plugin that serves pods which ask for nothing; null when there is none. */
  readonly fallback: string | null
  /** What it gave, when the ADD is sent again to have that confirmed; in CIDR notation. */
  readonly given: readonly string[]
  readonly pod: PodRequest
  /** How the pod is to be wired; undefined in the IPAM role, where that is the parent plugin's business. */
  readonly main: MainConfig | undefined
}

/** On what terms it is decided. */
export interface AddTerms {
  readonly liveness: (attachment: AttachmentRecord) => Liveness
  /** For how long another node has said nothing; absent where nodes share nothing. */
  readonly silenceOf?: ((node: string) => Silence) | undefined
  readonly pools: PoolBook
  /** Milliseconds since the epoch. */
  readonly now: number
}

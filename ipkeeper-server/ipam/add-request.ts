import type { ResultDns, ResultRoute } from '../../shared/cni/result.ts'
import type { ReleasePolicy } from './plan-del.ts'
import type { Pool } from './pool.ts'
import type { PodRequest } from './request.ts'
import type { Retention } from './retention.ts'
import type { AttachmentKey, Holder } from './records.ts'

/** What the node's own look at an attachment says. Absence of proof is "unknown", never "dead". */
export type Liveness = 'dead' | 'unknown'

/** Everything one ADD is decided from, besides the address book. */
export interface AddRequest {
  readonly key: AttachmentKey
  readonly holder: Holder
  readonly podUid: string | null
  readonly node: string
  readonly bootId: string
  readonly netns: string
  readonly netnsInode: string | null
  readonly invocationId: string | null
  readonly startedAt: number | null
  readonly pool: Pool
  readonly routes: readonly ResultRoute[]
  readonly dns: ResultDns
  /** Type of the IPAM plugin that serves pods which ask for nothing; null when there is none. */
  readonly fallback: string | null
  /** What it gave, when the ADD is sent again to have that confirmed; in CIDR notation. */
  readonly given: readonly string[]
  readonly pod: PodRequest
}

export interface AddPolicy extends ReleasePolicy {
  /** Retention of pods that say nothing. */
  readonly retention: Retention
}

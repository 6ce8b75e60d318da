import type { ResultDns, ResultRoute } from '../../../shared/cni/result.ts'
import type { MainConfig } from './main-config.ts'
import type { ContactAge } from '../records/last-contact.ts'
import type { OwnAddresses } from '../pools/own-addresses.ts'
import type { Owner } from '../records/pod-facts.ts'
import type { PoolBook } from '../pools/pool-settings.ts'
import type { Whereabouts } from '../pools/pool-rules.ts'
import type { Pool } from '../pools/pool.ts'
import type { AttachmentKey, AttachmentRecord, Holder } from '../records/records.ts'
import type { MacRequest, PodRequest, PoolRequest } from './request.ts'
import type { Liveness, Witness } from '../records/standing.ts'

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
  /** The caller leaves a mark before it uses the answer (shared/mark-name.ts); `invocationId` is fit for one. */
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
  /** The MAC that CNI's own channels ask for. */
  readonly cniMac?: MacRequest | undefined
  /** How the pod is to be wired; undefined in the IPAM role, where that is the parent plugin's business. */
  readonly main: MainConfig | undefined
}

/** Who was seen to have a MAC, besides what the book says. */
export interface SeenMac {
  /** Links of the node that have it. */
  readonly links: readonly string[]
  /** Addresses, without prefix, that the node knows its neighbours to have under it. */
  readonly neighbours: readonly string[]
  /** Attachments of this node that were wired with it, asked for or not. */
  readonly attachments: readonly AttachmentRecord[]
}

/** On what terms it is decided. */
export interface AddTerms {
  readonly liveness: (attachment: AttachmentRecord) => Liveness
  /** See Witness. */
  readonly lostNode?: Witness['lostNode']
  readonly isForgotten?: Witness['isForgotten']
  /** For how long another node has said nothing; absent where nodes share nothing. */
  readonly contactAgeOf?: ((node: string) => ContactAge) | undefined
  readonly pools: PoolBook
  /** Addresses of this node. */
  readonly own: OwnAddresses
  /** Who was seen to have the MAC that is asked for; absent where nobody looked. */
  readonly seenMac?: SeenMac | undefined
  /** Milliseconds since the epoch. */
  readonly now: number
}

/**
 * The MAC that an ADD asks for. In the main role an annotation goes before CNI's own channels; under a parent plugin those
 * go before it, as they are what the parent obeys.
 */
export function requestedMac({
  pod,
  main,
  cniMac,
}: Pick<AddRequest, 'pod' | 'main' | 'cniMac'>): MacRequest | undefined {
  const annotated =
    pod.mac === undefined
      ? undefined
      : { mac: pod.mac, source: pod.macSource ?? 'annotation ipkeeper.io/mac' }
  return main ? (annotated ?? cniMac) : (cniMac ?? annotated)
}

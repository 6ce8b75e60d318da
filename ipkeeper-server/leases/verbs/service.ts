import type { Problem } from '../../../shared/problem/problem.ts'
import type { Liveness, Witness } from '../../ipam/records/standing.ts'
import type { AgeClock } from '../../ipam/records/times.ts'
import type { ContactAge } from '../../ipam/records/last-contact.ts'
import type { HistoryArchive } from '../../store/history-archive.ts'
import type { Family } from '../../../shared/net/address.ts'
import type { MeasuredUse } from '../../ipam/pools/forecast-full.ts'
import type { OwnAddresses } from '../../ipam/pools/own-addresses.ts'
import type { Owner } from '../../ipam/records/pod-facts.ts'
import type { PoolBook } from '../../ipam/pools/pool-settings.ts'
import type { AttachmentRecord, Holder } from '../../ipam/records/records.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { PodNetwork } from '../../network/pod-network.ts'
import type { RecentAnswers, Tombstones } from './recent-verbs.ts'
import type { Serial } from './turns.ts'

/** Somebody on a link has an address. */
export interface AddressAnswer {
  readonly address: string
  readonly mac: string
}

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
  readonly answers: RecentAnswers
  /**
   * Whether the answer of its ADD has arrived, also where the record does not say so yet; asked in the attachment's turn by
   * whoever ends it. What has not arrived by then never will. Never rejects.
   */
  readonly wasAnswered: (attachment: AttachmentRecord) => Promise<boolean>
  /** Wires and unwires pods, in the main role. */
  readonly network: PodNetwork
  /** Looks which addresses this node has itself; absent where nobody looks at a node. */
  readonly ownAddresses?: () => Promise<OwnAddresses>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds of CLOCK_MONOTONIC, by which plugins date their runs. What has to be in order within a boot goes by it. */
  readonly monotonic: () => number
  /** When the ledger had been read, by that clock. */
  readonly openedAt: number
  /** What can be said of an attachment at this moment. */
  readonly liveness: (attachment: AttachmentRecord) => Liveness
  /** What the Kubernetes API says of a node; null where there is none to ask. See Witness. */
  readonly lostNode?: Witness['lostNode']
  /** Whether an operator has said that a node is gone for good (forget-node.ts); see Witness. */
  readonly isForgotten?: Witness['isForgotten']
  /** For how long another node has said nothing; absent where nodes share nothing. */
  readonly contactAgeOf?: (node: string) => ContactAge
  /** Milliseconds since another node was last heard of by whatever it wrote; absent where nodes share nothing. */
  readonly lastHeardOf?: (node: string) => number | undefined
  /** Who answers on a link of this node for one of these addresses; absent where nobody can ask. Never rejects. */
  readonly answersOnLink?: (addresses: readonly string[]) => Promise<readonly AddressAnswer[]>
  /** Why no ADD may be served now, whatever the ledger says; absent where nodes share nothing. */
  readonly refusal?: () => Problem | undefined
  /**
   * Whether nobody else is known, or may be expected, to live who has this node's name or identity: else nothing is ended here for
   * being dead. Absent where nodes share nothing.
   */
  readonly isOurs?: () => boolean
  /** What all nodes have recorded; absent where a node has its store to itself, or the engine keeps none. */
  readonly history?: HistoryArchive
  /** How full one family of a pool was, the oldest sample first; absent where nobody takes samples. */
  readonly useSamples?: (pool: { readonly name: string; readonly family: Family }) => readonly MeasuredUse[]
  /** The controller of a pod as known at this moment; undefined where nobody can tell. */
  readonly ownerOf: (holder: Holder, podUid: string | null) => Owner | null | undefined
}

/** By what the ages of attachments are told at this moment. */
export function ageClock({
  monotonic,
  openedAt,
  bootId,
}: Pick<LeaseService, 'monotonic' | 'openedAt' | 'bootId'>): AgeClock {
  return { now: monotonic(), openedAt, bootId }
}

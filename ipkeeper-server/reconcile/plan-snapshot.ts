import type { PendingSpecItem } from '../../shared/api/listing.schema.ts'
import type { OwnAddresses } from '../ipam/pools/own-addresses.ts'
import type { OutlinedAttachment } from '../ipam/records/attachment-outline.ts'
import type { AttachmentRecord, LeaseRecord } from '../ipam/records/records.ts'
import type { Standing } from '../ipam/records/standing.ts'
import type { RuntimeAnswer, Sandbox } from '../runtime/sandboxes.ts'

/**
 * What one pass looks at. Order is part of the meaning: attachments were read before anybody else was asked, so that what
 * came up meanwhile is not taken for gone (whereabouts#207).
 */
export interface NodeSnapshot {
  /** Of this node. */
  readonly attachments: readonly SeenAttachment[]
  /** On record here under other names. */
  readonly misnamed: readonly Pick<SeenAttachment, 'record' | 'leases'>[]
  /** Bound under this node's name to attachments that it has no record of; absent: none. */
  readonly unrecorded?: readonly LeaseRecord[]
  /** Those that are there; empty where none is. */
  readonly runtimes: readonly RuntimeAnswer[]
  /** Container IDs of all attachments, read after the runtimes had answered. */
  readonly attachedSince: ReadonlySet<string>
  /** Addresses of pools that ready sandboxes without an attachment have. */
  readonly pooledSandboxes: readonly PooledSandbox[]
  readonly links: Looked<readonly SeenVeth[]>
  /** Host links that attachments have, read after the links. */
  readonly namedLinks: ReadonlySet<string>
  /** Pods of this node. */
  readonly pods: Looked<readonly SeenPod[]>
  /** Addresses that the node has itself; absent where nobody looks. */
  readonly own?: OwnAddresses
  /** Lately; absent: none. */
  readonly falseAnswers?: readonly SeenFalseAnswer[]
  /** The configuration file of the daemon, where it is not what is in force. */
  readonly refusedConfig?: RefusedConfig
  /** IPPools whose newest spec is refused; absent: none. */
  readonly refusedPools?: readonly Pick<PendingSpecItem, 'says' | 'next'>[]
  /** Only where this daemon is elected; a list of nodes that is empty or of some time ago says nothing. */
  readonly elsewhere: readonly SeenElsewhere[]
  /** Nodes that are lost, and of which this daemon only tells: absent where nobody asked. */
  readonly lostNodes?: readonly SeenLostNode[]
  /** Nodes with addresses in use of which nothing is known; absent: none. */
  readonly unheard?: readonly string[]
}

/** A configuration file that is not in force. */
export interface RefusedConfig {
  readonly path: string
  readonly message: string
  /** When what is in force was read; milliseconds since the epoch. */
  readonly loadedAt: number
  /** What to type. */
  readonly remedy: string
}

/** A node that cannot run its sandboxes, or is silent, and what is bound there. */
export interface SeenLostNode {
  readonly standing: Standing
  readonly leases: readonly LeaseRecord[]
  /** Where nobody has said that it is lost: for how long it has been silent. */
  readonly silence?: string
}

/** What a node that the Kubernetes API does not have has in this ledger, as far as its leases tell. */
export interface SeenElsewhere {
  readonly record: AttachmentRecord
  readonly leases: readonly LeaseRecord[]
  /** Milliseconds for which the API was seen, again and again, not to have the node. */
  readonly goneFor: number
  /** Whether this daemon has known the API to have it. */
  readonly nodeWasThere: boolean
  /** What the API says of the very pod, by its UID. later: not asked yet. none: there is no pod, or its UID is not known. */
  readonly pod: 'gone' | 'exists' | 'unknown' | 'later' | 'none'
}

/** That a pod answered for addresses that others were to get, which its ADDs have not heeded. */
export interface SeenFalseAnswer {
  readonly attachment: AttachmentRecord
  /** The last ones, without prefix. */
  readonly addresses: readonly string[]
  readonly times: number
}

/** absent: there is none to ask. later: not asked in this pass. */
export type Looked<T> =
  | { readonly state: 'asked'; readonly found: T }
  | { readonly state: 'absent' }
  | { readonly state: 'later' }
  | { readonly state: 'failed'; readonly reason: string }

export interface SeenAttachment {
  /** By this is decided whether there is anything to suspect. */
  readonly outline: OutlinedAttachment
  /** As it was when it was looked at; parsed when it is asked for, and each time anew. */
  readonly record: AttachmentRecord
  /** Bound to it. */
  readonly leases: readonly LeaseRecord[]
  /** Whether it is its holder's last one; looked up when it is asked for. */
  readonly current: boolean
  /** What proves that its sandbox is dead: another boot of the kernel, or its namespace is gone. */
  readonly death: 'boot' | 'namespace' | undefined
  /** Milliseconds since it was made. */
  readonly age: number
  /** What the kernel has on its interface, in CIDR notation; undefined where nobody looked, or could. */
  readonly kernel: readonly string[] | undefined
}

export interface PooledSandbox {
  readonly sandbox: Sandbox
  readonly address: string
  readonly pool: string
}

/** A veth of the host. */
export interface SeenVeth {
  readonly index: number
  readonly name: string
  readonly alias: string
  /** Whether it is up and so is its other side. */
  readonly carrier: boolean
}

export interface SeenPod {
  readonly namespace: string
  readonly name: string
  /** Its own, and what a static pod is called by the runtime. */
  readonly uids: readonly string[]
  readonly addresses: readonly string[]
  readonly deleting: boolean
}

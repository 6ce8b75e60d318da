import type { CacheReason } from '../../shared/cache-reasons.ts'
import type { PartState } from '../host/optional-part.ts'
import type { FindingKind, Severity } from '../../shared/findings.ts'
import type { LeaseState } from '../ipam/records/records.ts'
import type { RangeSetUsage } from '../ipam/pools/usage.ts'
import type { DiskStatus } from '../store/lease-store.ts'

/** How many findings of each kind there are, or were repaired; undefined before leases and node were compared. */
export type FindingCounts = () => Partial<Record<FindingKind, number>> | undefined

/** Files of result caches that are not as they should be; undefined before the first look. */
export type BadCacheFiles = () => Partial<Record<CacheReason, number>> | undefined

/** What the linter says of the folder of conflists; undefined before the first look. */
export type ConflistState = () =>
  | {
      readonly files: readonly { readonly name: string; readonly valid: boolean }[]
      readonly findings: Partial<Record<Severity, number>>
    }
  | undefined

/** The watches of the Kubernetes API and its Events; times in milliseconds since the epoch. */
export interface ClusterFigures {
  readonly watches: readonly {
    readonly resource: string
    readonly connected: boolean
    readonly synced: boolean
    readonly lastContact: number | undefined
  }[]
  readonly events: { readonly queued: number; readonly written: number; readonly dropped: number }
}

/** Of a store that nodes share. */
export interface SharedStoreFigures {
  readonly away: boolean
  /** Whether it has lost records that not all nodes have told it again. */
  readonly incomplete: boolean
  /** How many of the other nodes have not. */
  readonly awaited: number
  /** Records that the engine is still to be told of. */
  readonly owed: number
  /** Whether this daemon does what one does for all; undefined where nobody is elected, for want of a Kubernetes API. */
  readonly elected: boolean | undefined
}

/** Of the file of a ledger or of a journal. */
export interface StoreFileFigures {
  /** Why nothing is acknowledged; undefined while all is well. */
  readonly fault: 'lost' | 'damaged' | undefined
  /** Entries of the history that are damaged. */
  readonly history: number
}

/** The history on its way to a syslog receiver; the moment in milliseconds since the epoch. */
export interface HistoryExportFigures {
  readonly unsent: number
  readonly oldestUnsent: number | undefined
  readonly sent: number
  readonly pruned: number
}

/** What is asked when somebody scrapes, and at no other time. */
export interface MetricSources {
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Milliseconds of a clock that nobody sets. */
  readonly monotonic: () => number
  readonly usage: () => Promise<{
    /** By name of their pools. */
    readonly rangeSets: readonly RangeSetUsage[]
    readonly leases: Readonly<Record<LeaseState, number>>
  }>
  readonly counts: () => { readonly attachment: number; readonly reservation: number }
  readonly operationsUnderWay: () => number
  readonly deferredDels: () => Promise<{ readonly waiting: number; readonly quarantined: number }>
  /** `loadedAt`: milliseconds since the epoch; `problem`: why the file is not in force. */
  readonly config: () => { readonly loadedAt: number; readonly problem: object | null }
  /** undefined when no API is configured. */
  readonly cluster: () => ClusterFigures | undefined
  /** How it stands with the engine; undefined where this node has its store to itself. */
  readonly sharedStore: () => SharedStoreFigures | undefined
  /** Whether another machine has this node's name or identity; undefined where this node has its store to itself. */
  readonly nameLost?: () => boolean | undefined
  /** What is wrong with the store's file; undefined where it has none. */
  readonly storeFile?: () => StoreFileFigures | undefined
  /** undefined where nothing is written to a disk. */
  readonly disk: () => DiskStatus | undefined
  readonly parts?: () => readonly PartState[]
  /** undefined where the history is sent to no receiver. */
  readonly historyExport?: () => Promise<HistoryExportFigures | undefined>
  /** Milliseconds since the epoch. Absent: by the clock of the machine. */
  readonly now?: () => number
  /** When the certificate of the webhook ends, in milliseconds since the epoch; undefined without one. */
  readonly certificateEnds: () => number | undefined
  /** Milliseconds in which the event loop worked. */
  readonly busyMs: () => number
  readonly findings?: FindingCounts
  /** Since the start. */
  readonly repairs?: FindingCounts
  readonly badCacheFiles?: BadCacheFiles
  readonly conflists?: ConflistState
}

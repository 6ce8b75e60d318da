import type { ImportVerdict } from '../../../shared/api/import.schema.ts'
import { formatAddress, parseAddress } from '../../../shared/net/address.ts'
import type { Problem } from '../../../shared/problem/problem.ts'
import type { NetnsState } from '../../ipam/records/standing.ts'
import type { PoolBook } from '../../ipam/pools/pool-settings.ts'
import type { Pool } from '../../ipam/pools/pool.ts'
import type { Retention } from '../../ipam/records/retention.ts'
import type { Holder, PoolRecord } from '../../ipam/records/records.ts'
import type { Owner } from '../../ipam/records/pod-facts.ts'

/** What an import goes by, beside what was found. */
export interface ImportTerms {
  readonly source: string
  readonly segment: string
  /** undefined: as pools, reservations and what was found say. */
  readonly retain: Retention | undefined
  /** Ranges that network configurations give their networks, or why they cannot be read. */
  readonly networks: ReadonlyMap<string, Pool | Problem>
  readonly pools: PoolBook
  /** The pool that a record remembers. Every allocation is looked for in every pool: each should be parsed once. */
  readonly poolOf: (record: PoolRecord) => Pool
  /** Whether a sandbox that was found has what a pod has, by the ledger, in an earlier one: the ledger is older than what was found. */
  readonly supersedes: boolean
  readonly node: string
  readonly bootId: string
  readonly now: number
  /** Milliseconds of CLOCK_MONOTONIC. */
  readonly monotonic: number
  readonly namespaceAt: (path: string) => NetnsState
  readonly ownerOf: (holder: Holder, podUid: string | null) => Owner | null | undefined
}

/** What becomes of one allocation; `hint` '' where there is nothing to do. */
export interface ImportDecision {
  readonly verdict: ImportVerdict
  readonly as: 'bound' | 'held' | null
  readonly pool: string | null
  readonly reason: string
  readonly hint: string
}

/** A decision that adopts nothing. */
export const decided = (
  verdict: ImportVerdict,
  reason: string,
  { hint = '', pool = null }: { hint?: string; pool?: string | null } = {},
): ImportDecision => ({ verdict, as: null, pool, reason, hint })

/** Canonical text of an address, which is a part of keys; the text itself where it is none. */
export function canonical(text: string): string {
  const address = parseAddress(text)
  return address ? formatAddress(address) : text
}

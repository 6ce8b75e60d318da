import type { HolderRecord, LeaseRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import type { SharedLedger } from '../rigs/shared-node.ts'
import type { FinalState, SeenHolder, SeenLease } from './history.ts'

/** A server of the engine, and what a test does to it. */
export interface EngineServer {
  readonly name: string
  /** By SIGKILL. */
  kill(): Promise<void>
  start(): Promise<void>
  freeze(): void
  thaw(): void
  /** Between this server and the others of the engine; absent where it is the only one. */
  readonly isolate?: () => Promise<void>
  readonly join?: () => Promise<void>
}

/** What the nodes of a test share, seen from the engine's side. */
export interface EngineSide {
  readonly ledger: SharedLedger
  readonly servers: readonly EngineServer[]
  /** Forgets all versions but the present ones, so that a watch that is behind has to begin anew. */
  compact(): Promise<void>
  /** What is in it, read past all daemons. */
  read(): Promise<FinalState['engine']>
}

export function seenLease({ address, state, holder, attachment, node }: LeaseRecord): SeenLease {
  return { address, state, holder: nameOf(holder), container: attachment?.containerId ?? null, node }
}

export function seenHolder({ holder, attachment, leases }: HolderRecord): SeenHolder {
  return {
    holder: nameOf(holder),
    container: attachment?.containerId ?? null,
    addresses: leases.map(({ address }) => address),
  }
}

const nameOf = (holder: LeaseRecord['holder']): string =>
  holder.kind === 'pod' ? holder.name : holder.containerId

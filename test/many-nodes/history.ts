/**
 * What a runtime asked of the daemons of several nodes, and what came of it. Moments are milliseconds of one clock that
 * never jumps: that of the process which asks all of them.
 */

/** One run of ADD. An ADD that was sent again is one, from the first sending to the last answer. */
export interface AddEvent {
  readonly kind: 'add'
  readonly node: string
  /** Each has one ADD. */
  readonly container: string
  /** The pod by its name; the same one on several nodes is one holder. */
  readonly holder: string
  readonly uid: string
  /** Addresses asked for by name; none: whichever is free. */
  readonly asked: readonly string[]
  readonly began: number
  readonly ended: number
  /** unknown: no answer, such as of a daemon that was killed; it may have been carried out, and it may be still. */
  readonly outcome:
    | { readonly kind: 'given'; readonly addresses: readonly string[] }
    | { readonly kind: 'refused'; readonly code: string }
    | { readonly kind: 'unknown' }
}

export interface DelEvent {
  readonly kind: 'del'
  readonly node: string
  readonly container: string
  readonly began: number
  readonly ended: number
  readonly outcome: 'done' | 'unknown'
}

/** From now on its own node may attest that the sandbox is dead: its network namespace was taken away. */
export interface DeathEvent {
  readonly kind: 'death'
  readonly container: string
  readonly at: number
}

/** Whether the daemon stood by its answer when it was asked later (CHECK). */
export interface CheckEvent {
  readonly kind: 'check'
  readonly node: string
  readonly container: string
  readonly began: number
  readonly ended: number
  readonly outcome: 'stands' | 'denied' | 'unknown'
}

export type NodeEvent = AddEvent | DelEvent | DeathEvent | CheckEvent

/** A lease as the engine or a daemon's listing has it. */
export interface SeenLease {
  readonly address: string
  readonly state: string
  readonly holder: string
  /** null unless bound. */
  readonly container: string | null
  readonly node: string
}

/** A holder's record as the engine has it. */
export interface SeenHolder {
  readonly holder: string
  readonly container: string | null
  readonly addresses: readonly string[]
}

/** How it stands when all is healed, nothing is asked any more and nothing is owed. */
export interface FinalState {
  /** Read from the engine past all daemons. */
  readonly engine: { readonly leases: readonly SeenLease[]; readonly holders: readonly SeenHolder[] }
  /** What each daemon lists, by its node. */
  readonly listings: ReadonlyMap<string, readonly SeenLease[]>
}

/**
 * What a runtime asked of the daemons of several nodes, and what came of it. Moments are milliseconds of one clock that
 * never jumps: that of the process which asks all of them. A call that says when it began (`startedAt`) may be sent later
 * than that: `began` is what it says, `sent` when it went out, where that is not the same. Of a program that says it itself
 * `began` is the latest that it can say.
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
  /** Whatever becomes of its sandbox, its addresses are kept for the holder. */
  readonly keeps?: true
  /** What it asks for cannot be: any refusal is right. */
  readonly wrong?: true
  readonly began: number
  readonly sent?: number
  readonly ended: number
  /**
   * unknown: no answer, such as of a daemon that was killed; it may have been carried out, and it may be still.
   * unconfirmed: it was answered to a caller that confirms, and did not: what it was given was never used.
   */
  readonly outcome:
    | { readonly kind: 'given' | 'unconfirmed'; readonly addresses: readonly string[] }
    | { readonly kind: 'refused'; readonly code: string }
    | { readonly kind: 'unknown' }
}

export interface DelEvent {
  readonly kind: 'del'
  readonly node: string
  readonly container: string
  readonly began: number
  readonly sent?: number
  readonly ended: number
  /** accepted: carried out, or written down to be. */
  readonly outcome: 'done' | 'accepted' | 'unknown'
  /** The code with which it was refused; it may have been carried out in part. */
  readonly refused?: string
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

/** A runtime said which sandboxes it has; it was asked what it has when the GC began. */
export interface GcEvent {
  readonly kind: 'gc'
  readonly node: string
  /** Containers. */
  readonly valid: readonly string[]
  /** undefined: the call did not say. */
  readonly began: number | undefined
  readonly sent: number
  readonly ended: number
  readonly outcome: 'done' | 'unknown'
}

/** A daemon was started; it forgot what it had in memory alone. */
export interface StartEvent {
  readonly kind: 'start'
  readonly node: string
  readonly at: number
}

/**
 * The engine lost data: from when on, and until all was well again. What was kept there for nobody's sandbox is lost, unless
 * it was in the snapshot that the engine went back to.
 */
export interface LossEvent {
  readonly kind: 'loss'
  readonly from: number
  readonly to: number
  /** When the snapshot was begun; absent: it lost everything. */
  readonly snapshot?: number
}

/** What a runtime or a person asked. */
export type CallEvent = AddEvent | DelEvent | CheckEvent | GcEvent
export type NodeEvent = CallEvent | DeathEvent | StartEvent | LossEvent

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

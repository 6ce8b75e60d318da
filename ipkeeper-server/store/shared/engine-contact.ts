import { Problem } from '../../../shared/problem/problem.ts'
import type { StoreStatus } from '../lease-store.ts'
import type { Engine } from './engine.ts'

export interface EngineContactOptions {
  readonly engine: Pick<Engine, 'kind' | 'location'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds of CLOCK_MONOTONIC. */
  readonly monotonic: () => number
}

interface Outage {
  readonly reason: string
  /** What to do about it; undefined where it is the connection. */
  readonly hint?: string
  /** Milliseconds since the epoch. */
  readonly since: number
}

/** Whether the engine can be reached and heard, for those who commit and for people. */
export class EngineContact {
  readonly #options: EngineContactOptions
  #away: Outage | undefined
  #trouble: Outage | undefined
  #heardAt = -Infinity
  /** Whether the engine has listed all it has since it was last heard of; the journal has copies of a part only. */
  hasListed = false

  constructor(options: EngineContactOptions) {
    this.#options = options
  }

  /** The engine answered. */
  heard(): void {
    this.#heardAt = this.#options.monotonic()
  }

  /** Milliseconds since the engine last answered. */
  get age(): number {
    return this.#options.monotonic() - this.#heardAt
  }

  get isAway(): boolean {
    return this.#away !== undefined
  }

  /** Why its feed says nothing, if so. */
  get trouble(): string | undefined {
    return this.#trouble?.reason
  }

  /** @param error what it said: one that refuses is to be had again by other means than one that does not answer */
  goAway(error: string | Error): void {
    const reason = typeof error === 'string' ? error : error.message
    const since = this.#away?.since ?? this.#options.now()
    this.#away = { reason, since, ...(error instanceof Problem && { hint: error.hint }) }
  }

  /** Whether it was away. */
  comeBack(): boolean {
    const wasAway = this.isAway
    this.#away = undefined
    return wasAway
  }

  /** The feed says nothing, or again says something. */
  setTrouble(reason: string | undefined): void {
    if (reason === undefined) this.heard()
    this.#trouble =
      reason === undefined ? undefined : { reason, since: this.#trouble?.since ?? this.#options.now() }
  }

  /** @param incomplete how it is when it can be reached */
  status(incomplete: Omit<StoreStatus, 'owed'> | undefined): Omit<StoreStatus, 'owed'> {
    if (!this.#away) return incomplete ?? { state: 'ready', ...this.#trouble }
    const { reason, since } = this.#away
    return { state: 'away', reason, since }
  }

  /** Why a claim has to wait. */
  refusal(cause?: unknown): Problem {
    const now = this.#options.now()
    const { kind, location } = this.#options.engine
    const { reason, since, hint }: Outage = this.#away ?? { reason: 'it did not answer', since: now }
    const seconds = Math.max(Math.round((now - since) / 1000), 0)
    return new Problem(
      'IPK_STORE_AWAY',
      `${kind} ${location} has been unreachable for ${seconds} s (${reason}): no new address can be assigned until it is back`,
      { ...(cause !== undefined && { cause }), ...(hint !== undefined && { hint }) },
    )
  }
}

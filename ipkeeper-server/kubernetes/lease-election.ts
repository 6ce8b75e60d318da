import type { JsonObject } from '../../shared/json/fold.ts'
import {
  type Election,
  electionApi,
  nextMove,
  readElection,
  seeRecord,
  writeElection,
  type ElectionRecord,
  type Move,
  type SeenRecord,
} from './election.ts'
import { type ApiAccess, ApiClient } from './api-client.ts'
import { ApiError } from './api-error.ts'
import { resourcePath } from './api-path.ts'
import { systemClock, type ClientClock } from './client-context.ts'
import { jittered } from './watch-progress.ts'

/** Milliseconds. */
export interface ElectionTiming {
  /** For how long others leave the elected one alone that they hear nothing of. */
  readonly duration: number
  /** How long after its last renewal was sent the elected one takes itself for elected: less than `duration`. */
  readonly deadline: number
  readonly renewEvery: number
  /** How often the others look, at most. */
  readonly lookEvery: number
  /** Between two tries of a renewal that failed. */
  readonly retryEvery: number
}

const standardTiming: ElectionTiming = {
  duration: 30_000,
  deadline: 20_000,
  renewEvery: 10_000,
  lookEvery: 20_000,
  retryEvery: 2_000,
}

export interface LeaseElectionOptions {
  readonly access: ApiAccess
  /** Of the Lease. */
  readonly namespace: string
  /** What this run of this daemon is called, as nobody else is. */
  readonly identity: string
  readonly clock?: ClientClock
  readonly timing?: ElectionTiming
  /** Told when this daemon becomes it, and when it no longer is. */
  readonly onChange: (elected: boolean) => void
  /** The API has not answered, or not as wanted; told once until it does. */
  readonly onTrouble: (error: ApiError) => void
}

/** Of the Lease that all daemons of a cluster look at. */
export const electionName = 'ipkeeper'

/**
 * Elects one daemon of a cluster by a Lease of coordination.k8s.io, with the rules of client-go's leader election: who
 * has it writes it anew every ten seconds, if nobody wrote meanwhile (`resourceVersion`); the others take it when they
 * themselves have seen no change for thirty seconds, by a clock of their own that never jumps. Who cannot renew stops after
 * twenty, before another can begin.
 *
 * The others read from the server's cache (`resourceVersion=0`), which costs it next to nothing: a state of some seconds
 * ago does no harm, since taking the Lease over is conditional.
 */
export class LeaseElection implements Election {
  readonly #options: LeaseElectionOptions
  readonly #clock: ClientClock
  readonly #timing: ElectionTiming
  readonly #client: ApiClient
  readonly #place: { readonly namespace: string; readonly name: string }
  readonly #path: string
  #seen: SeenRecord | undefined
  /** Until when this daemon is it, by the clock that never jumps; undefined while it is not. */
  #until: number | undefined
  #end: NodeJS.Timeout | undefined
  #next: NodeJS.Timeout | undefined
  #running: Promise<void> = Promise.resolve()
  #troubled = false
  #stopped = false

  constructor(options: LeaseElectionOptions) {
    const { access, namespace, clock = systemClock, timing = standardTiming } = options
    this.#options = options
    this.#clock = clock
    this.#timing = timing
    // A renewal that takes longer than this is tried again while there is time for it.
    this.#client = new ApiClient(access, { timeout: Math.ceil(timing.deadline / 3), requests: 1 })
    this.#place = { namespace, name: electionName }
    this.#path = resourcePath(electionApi, 'leases', this.#place)
  }

  isElected(): boolean {
    return this.#until !== undefined && this.#clock.monotonic() < this.#until
  }

  /** "worker-1 3f2a...", whoever is it as far as is known; undefined for nobody. */
  holder(): string | undefined {
    const holder = this.#seen?.record.holder ?? ''
    return holder === '' ? undefined : holder
  }

  /** Waits for nothing and cannot fail. */
  start(): void {
    this.#after(0)
  }

  /** To be called when nothing is done any more for all: another one may begin as soon as it looks. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#next)
    await this.#running
    if (this.#seen?.record.holder === this.#options.identity) await this.#write('').catch(() => undefined)
    clearTimeout(this.#end)
    this.#until = undefined
    await this.#client.close()
  }

  #after(milliseconds: number): void {
    if (this.#stopped) return
    this.#next = setTimeout(() => {
      this.#running = this.#step()
    }, milliseconds)
  }

  async #step(): Promise<void> {
    const { renewEvery, lookEvery, retryEvery } = this.#timing
    try {
      await (this.#until === undefined ? this.#look() : this.#renew())
      this.#troubled = false
      this.#after(this.#until === undefined ? jittered(lookEvery, this.#clock.random()) : renewEvery)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (!this.#troubled && !this.#stopped) this.#options.onTrouble(error)
      this.#troubled = true
      this.#after(this.#until === undefined ? jittered(lookEvery, this.#clock.random()) : retryEvery)
    }
  }

  async #read(query: Readonly<Record<string, string>>): Promise<SeenRecord | undefined> {
    try {
      const record = readElection(await this.#client.get(this.#path, { query }))
      if (!record) throw new ApiError(`GET ${this.#path}: the answer is no Lease`)
      return (this.#seen = seeRecord(this.#seen, record, this.#clock.monotonic()))
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404 || error.reason !== 'NotFound') throw error
      return (this.#seen = undefined)
    }
  }

  async #look(): Promise<void> {
    const seen = await this.#read({ resourceVersion: '0' })
    if (!this.#stopped && this.#move(seen) !== 'wait') await this.#write(this.#options.identity)
  }

  async #renew(): Promise<void> {
    if (await this.#write(this.#options.identity)) return
    // Somebody wrote: another daemon that is now it; or a person a label, or this one, and did not hear the answer.
    const seen = await this.#read({})
    if (this.#move(seen) === 'wait' || !(await this.#write(this.#options.identity))) this.#lose()
  }

  #move(seen: SeenRecord | undefined): Move {
    return seen ? nextMove(this.#options.identity, seen, this.#clock.monotonic()) : 'take'
  }

  /** Writes in place of what was last seen; false when somebody else has written meanwhile, whose word stands. */
  async #write(holder: string): Promise<boolean> {
    const before: ElectionRecord | undefined = this.#seen?.record
    const { duration, deadline } = this.#timing
    const sent = this.#clock.monotonic()
    const lease = writeElection(this.#place, before, holder, duration, this.#clock.now())
    let written: JsonObject
    try {
      written = before
        ? await this.#client.put(this.#path, lease)
        : await this.#client.post(
            resourcePath(electionApi, 'leases', { namespace: this.#place.namespace }),
            lease,
          )
    } catch (error) {
      if (!(error instanceof ApiError) || (error.status !== 409 && error.status !== 404)) throw error
      return false
    }
    const record = readElection(written)
    if (record) this.#seen = seeRecord(this.#seen, record, this.#clock.monotonic())
    if (holder !== '' && !this.#stopped) this.#hold(sent + deadline)
    return true
  }

  #hold(until: number): void {
    const first = this.#until === undefined
    this.#until = until
    clearTimeout(this.#end)
    this.#end = setTimeout(
      () => {
        this.#lose()
      },
      Math.max(0, until - this.#clock.monotonic()),
    )
    if (first) this.#options.onChange(true)
  }

  #lose(): void {
    clearTimeout(this.#end)
    if (this.#until === undefined) return
    this.#until = undefined
    this.#options.onChange(false)
  }
}

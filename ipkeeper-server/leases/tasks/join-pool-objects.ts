import { BackgroundTask } from '../../host/background-task.ts'
import type { JsonObject } from '../../../shared/json/fold.ts'
import { describeLeftOut, isInUse } from '../../ipam/plan/plan-configured-pools.ts'
import { judgePoolObjects, type PoolVerdict } from '../../ipam/pools/judge-pool-objects.ts'
import {
  joinPools,
  objectsInForce,
  type ObjectPool,
  type PendingPool,
  type PoolsInUse,
} from '../../ipam/pools/pool-objects-in-force.ts'
import type { PoolPolicy, PoolSettings } from '../../ipam/pools/pool-settings.ts'
import type { PoolObjectRecord } from '../../ipam/records/records.ts'
import type { LeaseService } from '../verbs/service.ts'

/** What holds for pools that do not say otherwise. */
type StandardPolicy = Omit<PoolPolicy, 'strategy'>

export interface PoolObjectsOptions {
  readonly service: Pick<LeaseService, 'ledger' | 'liveness' | 'now'>
  /** The pool that the spec of an IPPool says. Throws an Error that says what is wrong with it. */
  readonly read: (name: string, spec: JsonObject, standard: StandardPolicy) => PoolSettings
  /** Pools may be others from now on: `join` is to be called. */
  readonly onChange: () => void
  /** An object is not in force as it stands, or, without a text, is again. Told on change only. */
  readonly onNote: (name: string, text: string | undefined) => void
}

/** Milliseconds in which news is gathered: objects often come several at once. */
const quietFor = 100
/** Milliseconds between two looks at whether addresses that are in the way are still in use. */
const lookEvery = 2_000

/** The pools of objects that people made, beside those of the daemon's file. */
export class PoolObjects {
  readonly #options: PoolObjectsOptions
  #present: ReadonlyMap<string, ObjectPool> = new Map()
  #inForce: ReadonlyMap<string, ObjectPool> = new Map()
  #told: ReadonlyMap<string, string> = new Map()
  readonly #task: BackgroundTask
  readonly #unsubscribe: () => void

  constructor(options: PoolObjectsOptions) {
    this.#options = options
    this.#task = new BackgroundTask({
      round: () => {
        options.onChange()
        return undefined
      },
    })
    this.#unsubscribe = options.service.ledger.subscribe({
      poolChangedElsewhere: () => {
        this.#task.wake(quietFor)
      },
    })
  }

  /** All pools that are in force with those of the file. */
  join({
    pools,
    ...standard
  }: StandardPolicy & { readonly pools: readonly PoolSettings[] }): readonly PoolSettings[] {
    const unreadable = new Map<string, string>()
    this.#present = this.#read(standard, unreadable)
    const { inForce, notes } = objectsInForce(this.#inForce, this.#present, this.#use())
    const joined = joinPools(pools, inForce)
    this.#inForce = inForce
    this.#tell(new Map([...joined.notes, ...notes, ...unreadable]))
    if (notes.size > 0) this.#task.wake(lookEvery)
    return joined.pools
  }

  /** What the elected daemon is to say of each object. Every lease is looked at where a change is to be judged. */
  judge(): ReadonlyMap<string, PoolVerdict> {
    return judgePoolObjects(this.#inForce, this.#present, this.#use().leftOut)
  }

  stop(): void {
    this.#unsubscribe()
    void this.#task.stop()
  }

  #use(): PoolsInUse {
    const { ledger, liveness, now } = this.#options.service
    return {
      inUse: name => ledger.hasLiveLease({ name }),
      leftOut: (before, after) =>
        describeLeftOut(ledger, before.pool, after.pool, lease => isInUse(ledger, lease, now(), liveness)),
    }
  }

  #read(standard: StandardPolicy, unreadable: Map<string, string>): ReadonlyMap<string, ObjectPool> {
    const present = new Map<string, ObjectPool>()
    for (const { name, object } of this.#options.service.ledger.pools()) {
      if (!object) continue
      const { spec, uid, createdAt, deleting, generation = 0, since = generation, published = false } = object
      try {
        const settings = this.#options.read(name, spec, standard)
        const inForce = { spec, generation: since, settings }
        const pending = object.pending && this.#pending(name, object, standard)
        present.set(name, { inForce, published, pending, uid, generation, createdAt, deleting })
      } catch (error) {
        // As another version of this daemon has noted it.
        unreadable.set(name, error instanceof Error ? error.message : String(error))
      }
    }
    return present
  }

  #pending(
    name: string,
    { pending, generation = 0 }: PoolObjectRecord,
    standard: StandardPolicy,
  ): PendingPool | undefined {
    if (!pending) return undefined
    const { spec, fault, refusal } = pending
    if (fault !== undefined) return { wanted: undefined, why: fault }
    try {
      const settings = this.#options.read(name, spec, standard)
      return { wanted: { spec, generation, settings }, why: refusal?.message }
    } catch (error) {
      return { wanted: undefined, why: error instanceof Error ? error.message : String(error) }
    }
  }

  #tell(notes: ReadonlyMap<string, string>): void {
    for (const name of this.#told.keys()) if (!notes.has(name)) this.#options.onNote(name, undefined)
    for (const [name, text] of notes) if (this.#told.get(name) !== text) this.#options.onNote(name, text)
    this.#told = notes
  }
}

import { BackgroundTask } from '../../host/background-task.ts'
import type { JsonObject } from '../../../shared/json/fold.ts'
import { describeLeftOut, isInUse } from '../../ipam/plan/plan-configured-pools.ts'
import { joinPools, objectsInForce, type ObjectPool } from '../../ipam/pools/pool-objects-in-force.ts'
import type { PoolPolicy, PoolSettings } from '../../ipam/pools/pool-settings.ts'
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
    const { ledger, liveness, now } = this.#options.service
    const unreadable = new Map<string, string>()
    const present = this.#present(standard, unreadable)
    const { inForce, notes } = objectsInForce(this.#inForce, present, {
      inUse: name => ledger.hasLiveLease({ name }),
      leftOut: (before, after) =>
        describeLeftOut(ledger, before.pool, after.pool, lease => isInUse(ledger, lease, now(), liveness)),
    })
    const joined = joinPools(pools, inForce)
    this.#inForce = inForce
    this.#tell(new Map([...joined.notes, ...notes, ...unreadable]))
    if (notes.size > 0) this.#task.wake(lookEvery)
    return joined.pools
  }

  stop(): void {
    this.#unsubscribe()
    void this.#task.stop()
  }

  #present(standard: StandardPolicy, unreadable: Map<string, string>): ReadonlyMap<string, ObjectPool> {
    const present = new Map<string, ObjectPool>()
    for (const { name, object } of this.#options.service.ledger.pools()) {
      if (!object) continue
      const { spec, createdAt, deleting } = object
      try {
        present.set(name, { settings: this.#options.read(name, spec, standard), createdAt, deleting })
      } catch (error) {
        // As another version of this daemon has noted it.
        unreadable.set(name, error instanceof Error ? error.message : String(error))
      }
    }
    return present
  }

  #tell(notes: ReadonlyMap<string, string>): void {
    for (const name of this.#told.keys()) if (!notes.has(name)) this.#options.onNote(name, undefined)
    for (const [name, text] of notes) if (this.#told.get(name) !== text) this.#options.onNote(name, text)
    this.#told = notes
  }
}

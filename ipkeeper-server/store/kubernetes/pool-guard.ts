import type { ApiClient } from '../../kubernetes/api-client.ts'
import type { Clock } from '../../kubernetes/clock.ts'
import { isConflict } from './api-failure.ts'
import type { ApiRecord } from './read-object.ts'
import { objectPath } from './resources.ts'

/** While it is on an IPPool, the API server keeps the object when somebody deletes it (Kubernetes docs, "Finalizers"). */
export const poolFinalizer = 'ipkeeper.io/addresses-in-use'

/** Milliseconds over which the daemons of all nodes spread: one of them does it, and the others hear of that. */
const spread = 2_000

export interface PoolGuardOptions {
  readonly client: ApiClient
  readonly clock: Clock
  /** Whether leases of the pool of this name are bound or kept. */
  readonly isPoolInUse: (name: string) => boolean
  readonly onProblem: (name: string, error: unknown) => void
}

/**
 * Sees to it that an IPPool which people delete stays until none of its addresses is in use, as Kubernetes does with volumes.
 * Each daemon may do what is to be done, at the version of the object that it has seen.
 */
export class PoolGuard {
  readonly #options: PoolGuardOptions
  readonly #objects = new Map<string, ApiRecord>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  #stopped = false

  constructor(options: PoolGuardOptions) {
    this.#options = options
  }

  put(object: ApiRecord): void {
    this.#objects.set(object.name, object)
    this.#plan(object.name)
  }

  remove(name: string): void {
    this.#objects.delete(name)
    clearTimeout(this.#timers.get(name))
    this.#timers.delete(name)
  }

  stop(): void {
    this.#stopped = true
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
  }

  #plan(name: string): void {
    clearTimeout(this.#timers.get(name))
    this.#timers.delete(name)
    const object = this.#objects.get(name)
    if (this.#stopped || !object || object.deleting !== object.finalizers.includes(poolFinalizer)) return
    const timer = setTimeout(() => void this.#turn(name), this.#options.clock.random() * spread)
    this.#timers.set(name, timer.unref())
  }

  async #turn(name: string): Promise<void> {
    const object = this.#objects.get(name)
    if (!object) return
    if (!object.deleting || !this.#options.isPoolInUse(name)) {
      const others = object.finalizers.filter(one => one !== poolFinalizer)
      const finalizers = object.deleting ? others : [...others, poolFinalizer]
      try {
        // With the version in it, it is refused when somebody else was quicker.
        await this.#options.client.patch(objectPath('IPPool', { name }), {
          metadata: { resourceVersion: String(object.stamp), finalizers },
        })
      } catch (error) {
        if (!this.#stopped && !isConflict(error)) this.#options.onProblem(name, error)
      }
    }
    // The watch tells what has become of it; until then it is looked at again.
    if (this.#objects.get(name) === object) this.#plan(name)
  }
}

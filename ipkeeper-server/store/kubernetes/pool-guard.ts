import type { ApiClient } from '../../kubernetes/api-client.ts'
import type { ClientClock } from '../../kubernetes/client-context.ts'
import { backoff, jittered } from '../../kubernetes/watch-progress.ts'
import { isConflict } from './api-failure.ts'
import type { ApiRecord } from './read-object.ts'
import { collectionPath, objectPath } from './resources.ts'

/** While it is on an IPPool, the API server keeps the object when somebody deletes it (Kubernetes docs, "Finalizers"). */
export const poolFinalizer = 'ipkeeper.io/addresses-in-use'

/** Milliseconds over which the daemons of all nodes spread: one of them does it, and the others hear of that. */
const spread = 2_000

/** So many failures are as good as had already when there was one: every node may have it at the same moment. */
const headStart = 4

/** Milliseconds that the API may take to say who has addresses of a pool. */
const patience = 10_000

export interface PoolGuardOptions {
  readonly client: Pick<ApiClient, 'get' | 'patch'>
  readonly clock: ClientClock
  /** Whether leases of the pool of this name are bound or kept; undefined while that is not known here. */
  readonly isPoolInUse: (name: string) => boolean | undefined
  readonly onProblem: (name: string, error: unknown) => void
}

/**
 * Sees to it that an IPPool which people delete stays until none of its addresses is in use, as Kubernetes does with volumes.
 * Each daemon may do what is to be done, at the version of the object that it has seen. Nothing is done before `start`; what
 * is not known counts as in use; and before a pool is let go the leases themselves are asked for, since news of what other
 * nodes have may be late here, and a record of a newer version is one of the API only.
 */
export class PoolGuard {
  readonly #options: PoolGuardOptions
  readonly #objects = new Map<string, ApiRecord>()
  readonly #timers = new Map<string, NodeJS.Timeout>()
  /** How often in a row the API was not asked to any purpose, by pool. */
  readonly #inVain = new Map<string, number>()
  #started = false
  #stopped = false

  constructor(options: PoolGuardOptions) {
    this.#options = options
  }

  /** To be called when everything was heard once that there is. */
  start(): void {
    if (this.#started) return
    this.#started = true
    for (const name of this.#objects.keys()) this.#plan(name)
  }

  put(object: ApiRecord): void {
    this.#objects.set(object.name, object)
    this.#plan(object.name)
  }

  remove(name: string): void {
    this.#objects.delete(name)
    this.#inVain.delete(name)
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
    if (!this.#started || this.#stopped || !object) return
    if (object.deleting !== object.finalizers.includes(poolFinalizer)) return
    const { clock } = this.#options
    const inVain = this.#inVain.get(name) ?? 0
    const wait =
      inVain === 0 ? clock.random() * spread : jittered(backoff(inVain + headStart), clock.random())
    this.#timers.set(name, setTimeout(() => void this.#turn(name), wait).unref())
  }

  /** Never rejects: a guard that fails leaves the pool where it is. */
  async #turn(name: string): Promise<void> {
    const object = this.#objects.get(name)
    if (!object) return
    try {
      if (!object.deleting || !(await this.#isInUse(name))) await this.#setFinalizers(object)
    } catch (error) {
      if (!this.#stopped && !isConflict(error)) {
        this.#failed(name)
        this.#options.onProblem(name, error)
      }
    }
    // The watch tells what has become of it; until then it is looked at again.
    if (this.#objects.get(name) === object) this.#plan(name)
  }

  #failed(name: string): void {
    this.#inVain.set(name, (this.#inVain.get(name) ?? 0) + 1)
  }

  async #isInUse(name: string): Promise<boolean> {
    if (this.#options.isPoolInUse(name) !== false) {
      this.#inVain.delete(name)
      return true
    }
    const query = { fieldSelector: `spec.pool=${name},spec.state!=cooling`, limit: '1' }
    const { items } = await this.#options.client.get(collectionPath('IPLease'), { query, timeout: patience })
    const isInUse = !Array.isArray(items) || items.length > 0
    if (isInUse) this.#failed(name)
    return isInUse
  }

  async #setFinalizers({ name, deleting, finalizers, revision }: ApiRecord): Promise<void> {
    const others = finalizers.filter(one => one !== poolFinalizer)
    // With the version in it, it is refused when somebody else was quicker.
    await this.#options.client.patch(objectPath('IPPool', { name }), {
      metadata: {
        resourceVersion: String(revision),
        finalizers: deleting ? others : [...others, poolFinalizer],
      },
    })
  }
}

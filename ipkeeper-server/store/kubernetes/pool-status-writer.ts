import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import type { ApiClient } from '../../kubernetes/api-client.ts'
import { ApiError } from '../../kubernetes/api-error.ts'
import { at } from '../../kubernetes/kube-object.ts'
import type { PoolFigures, PoolStatus, PoolStatusSink } from '../pool-status-sink.ts'
import type { IPPoolStatus } from './ip-pool.schema.ts'
import { namedObjectName } from './object-name.ts'
import { objectPath } from './resources.ts'

type Condition = NonNullable<IPPoolStatus['conditions']>[number]

export interface PoolStatusWriterOptions {
  readonly client: Pick<ApiClient, 'patch'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Counts above 2^53 as decimal text: JSON numbers would lose digits. */
const count = (value: bigint): number | string =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value.toString()

const counts = ({ capacity, used, held, free, ratio }: PoolFigures) => ({
  ...{ capacity: count(capacity), used: count(used), held: count(held), free: count(free), ratio },
})

/** A family that the pool has no more is taken out of the status: null does that in a merge patch. */
const countsOrNone = (figures: PoolFigures | undefined) => (figures ? counts(figures) : null)

/** Shows the figures of pools in the status of their IPPools, for `kubectl get ippools`. */
export class PoolStatusWriter implements PoolStatusSink {
  readonly #options: PoolStatusWriterOptions

  constructor(options: PoolStatusWriterOptions) {
    this.#options = options
  }

  async write(pool: string, status: PoolStatus): Promise<void> {
    const path = `${objectPath('IPPool', { name: namedObjectName(pool) })}/status`
    const { ipv4, ipv6 } = status.families
    const figures = { ...counts(status), ipv4: countsOrNone(ipv4), ipv6: countsOrNone(ipv6) }
    try {
      // The answer has the conditions as they are, which keep their moments while they hold.
      const present = await this.#options.client.patch(path, { status: figures })
      const conditions = this.#conditions(present, status)
      if (conditions) await this.#options.client.patch(path, { status: { conditions } })
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error
    }
  }

  /** All conditions, those of others as they are; undefined when they are as they should be. */
  #conditions(object: JsonObject, { exhausted }: PoolStatus): readonly Condition[] | undefined {
    const listed = at(object, 'status', 'conditions')
    const present = (Array.isArray(listed) ? listed : []).filter(isJsonObject) as unknown as Condition[]
    const generation = at(object, 'metadata', 'generation')
    const observed = typeof generation === 'number' && { observedGeneration: generation }
    const full = exhausted.length > 0
    const wanted: readonly Omit<Condition, 'lastTransitionTime'>[] = [
      {
        type: 'Ready',
        status: 'True',
        reason: 'InForce',
        message: 'Addresses are given from it.',
        ...observed,
      },
      {
        type: 'Exhausted',
        status: full ? 'True' : 'False',
        reason: full ? 'NoneFree' : 'SomeFree',
        message: full
          ? `Range set ${exhausted.join(', ')} has no free address; a pod needs one of each.`
          : 'Every range set has free addresses.',
        ...observed,
      },
    ]
    const same = wanted.every(condition => {
      const before = present.find(({ type }) => type === condition.type)
      return before?.status === condition.status && before.message === condition.message
    })
    if (same) return undefined
    const lastTransitionTime = new Date(this.#options.now()).toISOString().replace(/\.\d+Z$/, 'Z')
    return [
      ...present.filter(({ type }) => !wanted.some(condition => condition.type === type)),
      ...wanted.map(condition => {
        const before = present.find(({ type }) => type === condition.type)
        const since = before?.status === condition.status ? before.lastTransitionTime : lastTransitionTime
        return { ...condition, lastTransitionTime: since }
      }),
    ]
  }
}

import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import type { PoolVerdict } from '../../ipam/pools/judge-pool-objects.ts'
import { canonicalJson } from '../../ipam/records/canonical-json.ts'
import type { ApiClient } from '../../kubernetes/api-client.ts'
import { ApiError } from '../../kubernetes/api-error.ts'
import { at } from '../../kubernetes/kube-object.ts'
import type { PoolFigures, PoolStatus, PoolStatusSink, PoolVerdictSink } from '../pool-status-sink.ts'
import { installLine, isConflict } from './api-failure.ts'
import { namedObjectName } from './object-name.ts'
import {
  conditionsOfVerdict,
  drainingCondition,
  fullCondition,
  mergeConditions,
  recordedConditions,
  type NewCondition,
} from './pool-conditions.ts'
import { objectPath } from './resources.ts'

export interface PoolStatusWriterOptions {
  readonly client: Pick<ApiClient, 'patch' | 'jsonPatch'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** The definition that the API has of IPPools is older than this daemon. */
  readonly onOldDefinition: (remedy: string) => void
}

/** Counts above 2^53 as decimal text: JSON numbers would lose digits. */
const count = (value: bigint): number | string =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value.toString()

const counts = ({ capacity, used, held, free, ratio }: PoolFigures) => ({
  ...{ capacity: count(capacity), used: count(used), held: count(held), free: count(free), ratio },
})

/** A family that the pool has no more is taken out of the status: null does that in a merge patch. */
const countsOrNone = (figures: PoolFigures | undefined) => (figures ? counts(figures) : null)

const tries = 5

/**
 * Writes the status of IPPools, for `kubectl get ippools`, and for the daemons, which go by what is published there. One write at a
 * time: each replaces the list of conditions as a whole.
 */
export class PoolStatusWriter implements PoolStatusSink, PoolVerdictSink {
  readonly #options: PoolStatusWriterOptions
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: PoolStatusWriterOptions) {
    this.#options = options
  }

  async write(pool: string, status: PoolStatus): Promise<void> {
    const { families, ranges } = status
    const { ipv4, ipv6 } = families
    const figures = { ...counts(status), ranges, ipv4: countsOrNone(ipv4), ipv6: countsOrNone(ipv6) }
    await this.#inTurn(async () => {
      const path = statusPath(pool)
      const present = await this.#options.client.patch(path, { status: figures })
      const observed = observedIn(present)
      const isOurs = isJsonObject(at(present, 'spec', 'recorded'))
      await this.#setConditions(path, present, [
        ...(isOurs ? recordedConditions(observed) : []),
        fullCondition(status.exhausted, observed),
        drainingCondition(status.draining, observed),
      ])
    })
  }

  async publish(pool: string, verdict: PoolVerdict): Promise<void> {
    await this.#inTurn(async () => {
      const path = statusPath(pool)
      // Changes nothing where there is a status, and answers with the object.
      const object = await this.#options.client.patch(path, { status: {} })
      if (at(object, 'metadata', 'uid') !== verdict.uid) return
      if (at(object, 'metadata', 'generation') !== verdict.generation) return
      await this.#tell(path, object, verdict)
    })
  }

  /** At once: nobody is to see what is in force without what is said of it. */
  async #tell(path: string, object: JsonObject, verdict: PoolVerdict): Promise<void> {
    const { publish } = verdict
    const isPublished = !publish || canonicalJson(at(object, 'status', 'inForce')) === canonicalJson(publish)
    const conditions = mergeConditions(object, conditionsOfVerdict(verdict), this.#options.now())
    if (isPublished && !conditions) return
    // Each value as a whole: a merge patch would keep keys of the spec before.
    const present = await this.#options.client.jsonPatch(path, [
      { op: 'replace', path: '/metadata/resourceVersion', value: at(object, 'metadata', 'resourceVersion') },
      ...(isPublished ? [] : [{ op: 'add', path: '/status/inForce', value: publish } as const]),
      ...(conditions ? [{ op: 'add', path: '/status/conditions', value: conditions } as const] : []),
    ])
    if (publish && at(present, 'status', 'inForce') === undefined) this.#options.onOldDefinition(installLine)
  }

  async #setConditions(path: string, present: JsonObject, wanted: readonly NewCondition[]): Promise<void> {
    const conditions = mergeConditions(present, wanted, this.#options.now())
    if (!conditions) return
    const resourceVersion = at(present, 'metadata', 'resourceVersion')
    await this.#options.client.patch(path, { metadata: { resourceVersion }, status: { conditions } })
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(() => tryAgain(work))
    this.#last = turn.catch(() => undefined)
    await turn
  }
}

/** A pool that is gone is no failure; one that somebody else has written meanwhile is read anew. */
async function tryAgain(work: () => Promise<void>): Promise<void> {
  for (let left = tries; ; left--) {
    try {
      await work()
      return
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return
      if (left <= 1 || !isConflict(error)) throw error
    }
  }
}

const statusPath = (pool: string): string => `${objectPath('IPPool', { name: namedObjectName(pool) })}/status`

const observedIn = (object: JsonObject): Pick<NewCondition, 'observedGeneration'> => {
  const generation = at(object, 'metadata', 'generation')
  return typeof generation === 'number' ? { observedGeneration: generation } : {}
}

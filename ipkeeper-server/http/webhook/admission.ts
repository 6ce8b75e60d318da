import { setTimeout as delay } from 'node:timers/promises'
import type { AddressBook } from '../../ipam/pools/address-book.ts'
import type { JsonObject } from '../../../shared/json/fold.ts'
import type { ConfiguredPoolsBook } from '../../ipam/plan/plan-configured-pools.ts'
import type { LeaseRecord } from '../../ipam/records/records.ts'
import type { PoolBook } from '../../ipam/pools/pool-settings.ts'
import type { StringMap } from '../../ipam/records/pod-facts.ts'
import type { Pool } from '../../ipam/pools/pool.ts'
import type { RangeSetUsage } from '../../ipam/pools/usage.ts'
import type { DialectName } from '../../kubernetes/dialects/dialects.ts'
import type { Admission, AdmissionVerdict } from './plan/admission-review.ts'
import { judgePool } from './plan/judge-pool.ts'
import { judgePods } from './plan/judge-pods.ts'
import { knownPools } from './plan/known-pools.ts'
import type { Ground } from './plan/request-objections.ts'

export interface AdmissionOptions {
  readonly book: AddressBook & ConfiguredPoolsBook
  /** Whether other nodes change it too, so that what was made just now may not have come here yet. */
  readonly isShared: boolean
  /** Throws IPK_STORE_AWAY before all that there is has been heard: what is not known would be taken for nothing. */
  readonly expectHeard: () => void
  readonly pools: () => PoolBook
  readonly dialects: () => ReadonlySet<DialectName>
  readonly namespaceLabels: (namespace: string) => StringMap | undefined
  /** Ranges of the networks in this node's conflists; `complete`: none of them has ranges that come with an ADD only. */
  readonly networks: () => Promise<{ readonly pools: readonly Pool[]; readonly complete: boolean }>
  /** Of all range sets. It may take its time: many reviews share one. */
  readonly usage: () => Promise<readonly RangeSetUsage[]>
  /** The pool that the spec of an IPPool says. Throws an Error that says what is wrong with it. */
  readonly readPool: (name: string, spec: JsonObject) => Pool
  /** Whether somebody relies on the address of a lease. */
  readonly isLive: (lease: LeaseRecord) => boolean
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number
}

/** Milliseconds for which a measurement of the pools, and a reading of conflists, serves further reviews. */
const lasts = 2_000
/** Milliseconds after which a pool that is not known is looked for again: it may be of the same manifest. */
const secondLook = 700

/** What takes time, and is as good for many reviews as for one. */
class Lately<T> {
  readonly #make: () => Promise<T>
  readonly #monotonic: () => number
  #made: { readonly at: number; readonly value: Promise<T> } | undefined

  constructor(make: () => Promise<T>, monotonic: () => number) {
    this.#make = make
    this.#monotonic = monotonic
  }

  async get(): Promise<T> {
    const now = this.#monotonic()
    if (!this.#made || now - this.#made.at >= lasts) this.#made = { at: now, value: this.#make() }
    return await this.#made.value
  }
}

const nothingMeasured: Ground['free'] = new Map()

/** Judges objects by the ledger of this daemon, which has all there is in memory. Changes nothing. */
export class AdmissionJudge {
  readonly #options: AdmissionOptions
  readonly #free: Lately<Ground['free']>
  readonly #networks: Lately<Awaited<ReturnType<AdmissionOptions['networks']>>>

  constructor(options: AdmissionOptions) {
    const { usage, networks, monotonic } = options
    this.#options = options
    this.#networks = new Lately(networks, monotonic)
    this.#free = new Lately(async () => {
      const byPool = Map.groupBy(await usage(), ({ pool }) => pool)
      return new Map([...byPool].map(([pool, sets]) => [pool, sets.map(({ free }) => free)]))
    }, monotonic)
  }

  /** Rejects with IPK_STORE_AWAY while nothing can be said; the API server then goes by its failurePolicy. */
  async judge(admission: Admission): Promise<AdmissionVerdict> {
    this.#options.expectHeard()
    if (admission.kind === 'IPPool') {
      const { book, pools, readPool, isLive } = this.#options
      const configured = pools().pools.map(({ pool }) => pool)
      return judgePool(admission, { book, configured, readPool, isLive })
    }
    const verdict = judgePods(admission, await this.#ground(admission))
    const mayCome = verdict.refusals.some(({ code }) =>
      ['IPK_POOL_UNKNOWN', 'IPK_ADDRESS_OUTSIDE'].includes(code),
    )
    if (!mayCome || !this.#options.isShared) return verdict
    await delay(secondLook)
    return judgePods(admission, await this.#ground(admission))
  }

  async #ground({ namespace, object }: Admission): Promise<Ground> {
    const { book, pools, dialects, namespaceLabels, now } = this.#options
    const networks = await this.#networks.get()
    // Only a workload that names a pool has its numbers compared with what is free.
    const namesPool = JSON.stringify(object ?? '').includes('ipkeeper.io/pool')
    return {
      book,
      pools: knownPools(book, pools(), networks.pools),
      complete: networks.complete,
      dialects: dialects(),
      namespaceLabels: namespaceLabels(namespace),
      free: namesPool ? await this.#free.get() : nothingMeasured,
      now: now(),
    }
  }
}

import { type JsonObject, isJsonObject } from '../../../../shared/json/fold.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { describeRanges, poolsOverlap, type Pool } from '../../../ipam/pools/pool.ts'
import { poolOf } from '../../../ipam/pools/pool-record.ts'
import { planConfiguredPools, type ConfiguredPoolsBook } from '../../../ipam/plan/plan-configured-pools.ts'
import type { LeaseRecord, PoolRecord } from '../../../ipam/records/records.ts'
import { at } from '../../../kubernetes/kube-object.ts'
import { admitted, type Admission, type AdmissionVerdict } from './admission-review.ts'

export interface PoolGround {
  readonly book: ConfiguredPoolsBook
  /** Pools of the daemon's configuration, which count before those of the API. */
  readonly configured: readonly Pool[]
  /** The pool that a spec says. Throws an Error that says what is wrong with it. */
  readonly readPool: (name: string, spec: JsonObject) => Pool
  /** Whether somebody relies on the address of a lease. */
  readonly isLive: (lease: LeaseRecord) => boolean
}

const hint =
  'keep these addresses in the ranges of the pool, or delete their pods and release what is kept first; see: ipkeeperctl leases'

/** Whether it is an object that people have to do with: those that ipkeeper made to remember a pool it sees to itself. */
function isPool({ apiVersion, kind, object, oldObject, subresource }: Admission): boolean {
  const one = object ?? oldObject
  return (
    kind === 'IPPool' &&
    apiVersion.startsWith('ipkeeper.io/') &&
    subresource === '' &&
    one !== undefined &&
    !isJsonObject(at(one, 'spec', 'recorded'))
  )
}

/** What a spec says, or why it says nothing. */
function read(
  name: string,
  object: JsonObject | undefined,
  { readPool }: PoolGround,
): { readonly pool?: Pool; readonly fault?: string } {
  if (!object) return {}
  const spec = object['spec']
  try {
    return { pool: readPool(name, isJsonObject(spec) ? spec : {}) }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

/** Pools that the ledger has from the API, with this one as it would be. */
function nextPools(
  { name }: Admission,
  pool: Pool | undefined,
  { book, configured }: PoolGround,
): readonly Pool[] {
  const others = [...book.pools()]
    .filter(record => record.origin === 'api' && record.name !== name)
    .map(poolOf)
  const taken = new Set(configured.map(own => own.name))
  return [...configured, ...[...others, ...(pool ? [pool] : [])].filter(own => !taken.has(own.name))]
}

/** The ledger as if pools of the API were those of a configuration that is about to change. */
function asConfigured(book: ConfiguredPoolsBook): ConfiguredPoolsBook {
  return {
    leases: () => book.leases(),
    reservations: () => book.reservations(),
    pools: function* (): Iterable<PoolRecord> {
      for (const record of book.pools())
        yield record.origin === 'api' ? { ...record, origin: 'config' } : record
    },
  }
}

/**
 * What is said to an IPPool that people make, change or delete: that it makes sense, overlaps no other pool of its segment,
 * and leaves no address in use outside. What was so before the change is no reason to refuse it.
 */
export function judgePool(admission: Admission, ground: PoolGround): AdmissionVerdict {
  if (!isPool(admission) || admission.operation === 'CONNECT') return admitted
  const { name } = admission
  const now = read(name, admission.object, ground)
  const before = read(name, admission.oldObject, ground)
  if (now.fault !== undefined) {
    if (before.fault !== undefined) return admitted
    const problem = new Problem('IPK_CONFIG_INVALID', `IPPool ${name}: ${now.fault}`, {
      hint: 'see: kubectl explain ippools.spec',
    })
    return { ...admitted, refusals: [problem] }
  }
  const next = nextPools(admission, now.pool, ground)
  const { pool } = now
  const met = pool && next.find(other => other.name !== name && poolsOverlap(other, pool))
  if (met && !(before.pool && poolsOverlap(before.pool, met))) {
    const problem = new Problem(
      'IPK_POOL_OVERLAP',
      `the ranges of IPPool ${name} (${describeRanges(pool)}) overlap those of pool ${met.name} (${describeRanges(met)}) of segment ${met.segment}`,
      { hint: 'use disjoint ranges, or another segment if the two really are separate L2/L3 domains' },
    )
    return { ...admitted, refusals: [problem] }
  }
  // Ranges that overlap all the same, since they did before, cannot be looked up in: nothing more is said of such.
  if (met) return admitted
  try {
    const { notes } = planConfiguredPools(
      asConfigured(ground.book),
      next.map(own => ({ pool: own })),
      ground.isLive,
    )
    return { ...admitted, warnings: notes }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { code, message, details } = error
    const orphan = code === 'IPK_POOLS_ORPHAN'
    return { ...admitted, refusals: [orphan ? new Problem(code, message, { details, hint }) : error] }
  }
}

import type { JsonObject } from '../../../shared/json/fold.ts'
import type { PoolSettings } from './pool-settings.ts'
import { poolsOverlap } from './pool.ts'
import { withStricterRules } from './stricter-rules.ts'

/** A spec that an IPPool has, or had, and the pool that it says. */
export interface SpecPool {
  readonly spec: JsonObject
  /** Of the object when it said so. */
  readonly generation: number
  readonly settings: PoolSettings
}

/** An IPPool that people made. */
export interface ObjectPool {
  readonly inForce: SpecPool
  /** Whether the elected daemon has published that this is in force; else it is what the object says. */
  readonly published: boolean
  /** What the object says where that is not published. */
  readonly pending?: PendingPool | undefined
  readonly uid: string | undefined
  /** Of the object as it is now. */
  readonly generation: number
  readonly createdAt: number
  /** Somebody deleted the object, and it waits for those who use it. */
  readonly deleting: boolean
}

export interface PendingPool {
  /** undefined: it makes no sense. */
  readonly wanted: SpecPool | undefined
  /** Why it is not put in force; undefined while nobody has said. */
  readonly why: string | undefined
}

export interface ObjectPools {
  /** By name. */
  readonly inForce: ReadonlyMap<string, ObjectPool>
  /** Why an object is not in force as it stands, by name. */
  readonly notes: ReadonlyMap<string, string>
}

export interface PoolsInUse {
  /** Whether leases of the pool are bound or kept. */
  readonly inUse: (name: string) => boolean
  /** Why a pool cannot become another one of its name; undefined when it can. */
  readonly leftOut: (before: PoolSettings, after: PoolSettings) => string | undefined
}

const deleted = 'was deleted; it stays in force until none of its addresses is in use'
const staysAsItWas = (why: string): string => `${why}; what was in force before stays in force`

/**
 * Which IPPools are in force. What the elected daemon has published is, on every node and after every start. Where it has
 * published nothing, an object is in force as soon as it is there, but a change that would leave out an address in use leaves the
 * pool as it was. One that was deleted stays in force until none of its addresses is bound or kept.
 *
 * @param before what was in force until now
 * @param present objects that can be read
 */
export function objectsInForce(
  before: ReadonlyMap<string, ObjectPool>,
  present: ReadonlyMap<string, ObjectPool>,
  use: PoolsInUse,
): ObjectPools {
  const inForce = new Map<string, ObjectPool>()
  const notes = new Map<string, string>()
  for (const [name, was] of before) {
    const now = present.get(name)
    if ((now && !now.deleting) || !use.inUse(name)) continue
    inForce.set(name, was)
    notes.set(name, deleted)
  }
  for (const [name, object] of present) {
    if (inForce.has(name)) continue
    const was = before.get(name)
    if (object.deleting) {
      // Of a daemon that was started since.
      if (was || !use.inUse(name)) continue
      inForce.set(name, object)
      notes.set(name, deleted)
      continue
    }
    const { published, pending } = object
    const leftOut = published || !was ? undefined : use.leftOut(was.inForce.settings, object.inForce.settings)
    inForce.set(name, leftOut === undefined || !was ? object : { ...object, inForce: was.inForce })
    const why = leftOut ?? pending?.why
    if (why !== undefined) notes.set(name, staysAsItWas(why))
  }
  return { inForce, notes }
}

/** What the verbs go by: who is to be kept out by a spec that is not in force is kept out, whatever else is wrong with it. */
function withPendingRules({ inForce, pending }: ObjectPool): PoolSettings {
  const { settings } = inForce
  const [strict] = withStricterRules([settings], pending?.wanted ? [pending.wanted.settings] : [])
  return strict ?? settings
}

/**
 * The pools of the file of the daemon, then those of objects: first those that are published, then the older ones. Of two that
 * have one name, or addresses in common, the first one counts.
 */
export function joinPools(
  ofFile: readonly PoolSettings[],
  objects: ReadonlyMap<string, ObjectPool>,
): { readonly pools: readonly PoolSettings[]; readonly notes: ReadonlyMap<string, string> } {
  const pools = [...ofFile]
  const notes = new Map<string, string>()
  for (const [name, object] of inCountingOrder(objects)) {
    const settings = withPendingRules(object)
    const other = pools.find(({ pool }) => pool.name === name || poolsOverlap(pool, settings.pool))
    if (!other) {
      pools.push(settings)
      continue
    }
    const where = ofFile.includes(other) ? "of the daemon's file" : 'of another, older object'
    notes.set(
      name,
      other.pool.name === name
        ? `the file of the daemon has a pool of this name, which counts; this one does not`
        : `overlaps pool ${other.pool.name} ${where}, which counts; this one does not`,
    )
  }
  return { pools, notes }
}

/** In the order in which they count. */
export function inCountingOrder(
  objects: ReadonlyMap<string, ObjectPool>,
): readonly (readonly [string, ObjectPool])[] {
  const rank = ({ published }: ObjectPool): number => (published ? 0 : 1)
  return [...objects].toSorted(
    ([a, one], [b, other]) => rank(one) - rank(other) || one.createdAt - other.createdAt || (a < b ? -1 : 1),
  )
}

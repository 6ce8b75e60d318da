import type { PoolSettings } from './pool-settings.ts'
import { poolsOverlap } from './pool.ts'

/** The pool that an IPPool says. */
export interface ObjectPool {
  readonly settings: PoolSettings
  readonly createdAt: number
  /** Somebody deleted the object, and it waits for those who use it. */
  readonly deleting: boolean
}

export interface ObjectPools {
  /** By name. */
  readonly inForce: ReadonlyMap<string, ObjectPool>
  /** Why an object is not in force as it stands, by name. */
  readonly notes: ReadonlyMap<string, string>
}

export interface PoolUse {
  /** Whether leases of the pool are bound or kept. */
  readonly inUse: (name: string) => boolean
  /** Why a pool cannot become another one of its name; undefined when it can. */
  readonly leftOut: (before: PoolSettings, after: PoolSettings) => string | undefined
}

const deleted = 'was deleted; it stays in force until none of its addresses is in use'

/**
 * Which IPPools are in force. An object is in force as soon as it is there, with two exceptions: one that was deleted stays
 * in force until none of its addresses is bound or kept, and a change that would leave out an address in use leaves the
 * pool as it was.
 *
 * @param before what was in force until now
 * @param present objects that can be read
 */
export function objectsInForce(
  before: ReadonlyMap<string, ObjectPool>,
  present: ReadonlyMap<string, ObjectPool>,
  use: PoolUse,
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
    const leftOut = was && use.leftOut(was.settings, object.settings)
    inForce.set(name, leftOut === undefined || !was ? object : was)
    if (leftOut !== undefined) notes.set(name, `${leftOut}; what was in force before stays`)
  }
  return { inForce, notes }
}

/**
 * The pools of the file of the daemon, then those of objects, the older ones first. Of two that have one name, or addresses
 * in common, the first one counts.
 */
export function joinPools(
  ofFile: readonly PoolSettings[],
  objects: ReadonlyMap<string, ObjectPool>,
): { readonly pools: readonly PoolSettings[]; readonly notes: ReadonlyMap<string, string> } {
  const pools = [...ofFile]
  const notes = new Map<string, string>()
  const inOrder = [...objects].toSorted(
    ([a, { createdAt: madeA }], [b, { createdAt: madeB }]) => madeA - madeB || (a < b ? -1 : 1),
  )
  for (const [name, { settings }] of inOrder) {
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

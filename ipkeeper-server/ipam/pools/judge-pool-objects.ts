import { canonicalJson } from '../records/canonical-json.ts'
import type { PoolRefusal } from '../records/records.ts'
import { inCountingOrder, type ObjectPool, type PoolsInUse, type SpecPool } from './pool-objects-in-force.ts'
import { describeRanges, poolsOverlap, type Pool } from './pool.ts'

/** What the elected daemon says of an IPPool. */
export interface PoolVerdict {
  readonly uid: string | undefined
  /** Of the object that was judged. */
  readonly generation: number
  /** What is in force from now on; undefined: what is published, or nothing where nothing is. */
  readonly publish: Omit<SpecPool, 'settings'> | undefined
  /** Whether anything of it is in force. */
  readonly isInForce: boolean
  readonly refusal: PoolRefusal | undefined
}

/**
 * What becomes of the specs of IPPools: one is put in force unless it makes no sense, overlaps what is in force, or would leave
 * out addresses in use. Those that are there come first, then the older ones.
 *
 * @param inForce what is in force on this node, by name
 * @param present as the API has them
 */
export function judgePoolObjects(
  inForce: ReadonlyMap<string, ObjectPool>,
  present: ReadonlyMap<string, ObjectPool>,
  leftOut: PoolsInUse['leftOut'],
): ReadonlyMap<string, PoolVerdict> {
  const standing = new Map<string, Pool>()
  for (const [name, { published, deleting, inForce: own }] of inForce)
    if (published || deleting) standing.set(name, own.settings.pool)
  const verdicts = new Map<string, PoolVerdict>()
  for (const [name, object] of inCountingOrder(present)) {
    if (object.deleting) continue
    const verdict = judge(name, object, { before: inForce.get(name)?.inForce, standing, leftOut })
    verdicts.set(name, verdict)
    const wanted = object.pending ? object.pending.wanted : object.inForce
    if (!verdict.refusal && wanted) standing.set(name, wanted.settings.pool)
  }
  return verdicts
}

interface Ground {
  /** What is in force of it on this node. */
  readonly before: SpecPool | undefined
  readonly standing: ReadonlyMap<string, Pool>
  readonly leftOut: PoolsInUse['leftOut']
}

function judge(name: string, object: ObjectPool, { before, standing, leftOut }: Ground): PoolVerdict {
  const { uid, generation, published, pending } = object
  const wanted = pending ? pending.wanted : object.inForce
  const about = { uid, generation }
  if (!wanted) {
    const message = pending?.why ?? 'it cannot be read'
    return { ...about, publish: undefined, isInForce: true, refusal: { reason: 'Invalid', message } }
  }
  const refusal = pending || !published ? refusalOf(name, wanted, { before, standing, leftOut }) : undefined
  if (!refusal) {
    const isPublished = published && !pending && object.inForce.generation === generation
    const publish = isPublished ? undefined : { spec: wanted.spec, generation }
    return { ...about, publish, isInForce: true, refusal }
  }
  // What somebody has taken out of the status, and this daemon still knows.
  const known = !published && before && isOther(before, wanted) ? before : undefined
  const publish = known && { spec: known.spec, generation: known.generation }
  return { ...about, publish, isInForce: published || known !== undefined, refusal }
}

const isOther = (one: SpecPool, other: SpecPool): boolean =>
  canonicalJson(one.spec) !== canonicalJson(other.spec)

function refusalOf(
  name: string,
  { settings }: SpecPool,
  { before, standing, leftOut }: Ground,
): PoolRefusal | undefined {
  const { pool } = settings
  for (const [other, its] of standing)
    if (other !== name && poolsOverlap(its, pool))
      return {
        reason: 'Overlaps',
        message: `the ranges of IPPool ${name} (${describeRanges(pool)}) overlap those of IPPool ${other} (${describeRanges(its)})`,
      }
  const message = before && leftOut(before.settings, settings)
  return message === undefined ? undefined : { reason: 'AddressesInUse', message }
}

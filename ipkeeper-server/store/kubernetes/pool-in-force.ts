import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { toPoolRecord } from '../../ipam/pools/pool-record.ts'
import type { Pool } from '../../ipam/pools/pool.ts'
import { canonicalJson } from '../../ipam/records/canonical-json.ts'
import {
  poolRefusalReasons,
  type PendingSpec,
  type PoolRecord,
  type PoolRefusal,
} from '../../ipam/records/records.ts'
import { at } from '../../kubernetes/kube-object.ts'
import { readSpec, UnreadableObject, type ApiRecord } from './read-object.ts'

/**
 * The pool that the spec of an IPPool says, by the rules of the daemon's file.
 *
 * @throws Error that says what is wrong with it
 */
export type PoolReader = (name: string, spec: JsonObject) => Pool

/** What the elected daemon has published to be in force. */
interface Published {
  readonly spec: JsonObject
  /** Generation of the object when it said that. */
  readonly since: number
  readonly pool: Pool
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * An IPPool that people made: a pool of what is published to be in force, whatever else its spec says by now. Where nothing is
 * published, or nothing that makes sense, the spec counts.
 *
 * @throws UnreadableObject
 */
export function readPeoplesPool(object: ApiRecord, readPool: PoolReader): PoolRecord {
  const { uid, createdAt, deleting, generation } = object
  const about = { generation, uid, createdAt, deleting }
  const published = readPublished(object, readPool)
  if (!published) {
    const record = toPoolRecord(specPool(object, readPool), generation, 'api')
    return { ...record, object: { spec: object.spec, since: generation, ...about } }
  }
  const { spec, since, pool } = published
  const pending = readPending(object, published, readPool)
  return {
    ...toPoolRecord(pool, generation, 'api'),
    object: { spec, since, ...about, published: true, ...(pending && { pending }) },
  }
}

function specPool(object: ApiRecord, readPool: PoolReader): Pool {
  const spec = readSpec(object)
  try {
    return readPool(object.name, spec)
  } catch (error) {
    throw new UnreadableObject(messageOf(error))
  }
}

/**
 * undefined where nothing is published, or what somebody else has written there: the elected daemon then writes it anew.
 *
 * @throws UnreadableObject for what a newer version has published: its spec is not for this one to judge
 */
function readPublished({ name, status }: ApiRecord, readPool: PoolReader): Published | undefined {
  const inForce = status['inForce']
  const spec = isJsonObject(inForce) ? inForce['spec'] : undefined
  if (!isJsonObject(inForce) || !isJsonObject(spec)) return undefined
  const { generation: since } = inForce
  if (typeof since !== 'number') return undefined
  readSpec({ spec })
  try {
    return { spec, since, pool: readPool(name, spec) }
  } catch {
    return undefined
  }
}

function readPending(object: ApiRecord, { spec }: Published, readPool: PoolReader): PendingSpec | undefined {
  if (canonicalJson(object.spec) === canonicalJson(spec)) return undefined
  const refusal = readRefusal(object)
  return { spec: object.spec, ...readFault(object, readPool), ...(refusal && { refusal }) }
}

function readFault(object: ApiRecord, readPool: PoolReader): Pick<PendingSpec, 'fault'> {
  try {
    specPool(object, readPool)
    return {}
  } catch (error) {
    return { fault: messageOf(error) }
  }
}

/** What the condition says of this very spec. */
function readRefusal({ status, generation }: ApiRecord): PoolRefusal | undefined {
  const listed = at({ status }, 'status', 'conditions')
  const conditions = Array.isArray(listed) ? listed.filter(isJsonObject) : []
  const condition = conditions.find(({ type }) => type === 'Refused')
  if (condition?.['status'] !== 'True' || condition['observedGeneration'] !== generation) return undefined
  const reason = poolRefusalReasons.find(one => one === condition['reason'])
  const { message } = condition
  return reason && typeof message === 'string' ? { reason, message } : undefined
}

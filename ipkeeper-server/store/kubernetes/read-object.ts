import { isJsonObject, type JsonObject } from '../../../shared/json/fold.ts'
import { unreadableSchema } from './layout-version.ts'

/** An object cannot be read as a record; the message says why, and names nothing. */
export class UnreadableObject extends Error {}

/** As much of an object of the API as every kind has. */
export interface ApiRecord {
  readonly name: string
  readonly namespace: string | undefined
  readonly uid: string
  /** Numeric resourceVersion: comparable, and never used again (KEP-5504). */
  readonly revision: number
  /** Of the API: 1, and one more with each change of the spec. */
  readonly generation: number
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** Somebody deleted it, and a finalizer keeps it for the time being. */
  readonly deleting: boolean
  readonly finalizers: readonly string[]
  readonly spec: JsonObject
  readonly status: JsonObject
}

/** "12034" as a number. Throws RangeError for what only another kind of API server would give. */
export function readRevision(resourceVersion: unknown): number {
  const revision =
    typeof resourceVersion === 'string' && /^[0-9]+$/.test(resourceVersion) ? Number(resourceVersion) : NaN
  if (Number.isSafeInteger(revision)) return revision
  throw new RangeError(`resourceVersion ${JSON.stringify(resourceVersion)} is no number`)
}

/** What every object has; undefined for what is no object. The server has checked types by the schema. */
export function readApiRecord(object: JsonObject): ApiRecord | undefined {
  const { metadata, spec } = object
  if (!isJsonObject(metadata)) return undefined
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, finalizers } = metadata
  if (typeof name !== 'string' || typeof uid !== 'string') return undefined
  return {
    name,
    uid,
    namespace: typeof namespace === 'string' ? namespace : undefined,
    revision: readRevision(resourceVersion),
    generation: typeof generation === 'number' ? generation : 1,
    createdAt: typeof creationTimestamp === 'string' ? Date.parse(creationTimestamp) : 0,
    deleting: metadata['deletionTimestamp'] !== undefined,
    finalizers: Array.isArray(finalizers) ? finalizers.map(String) : [],
    spec: isJsonObject(spec) ? spec : {},
    status: isJsonObject(object['status']) ? object['status'] : {},
  }
}

/** The spec, of a form that this version knows. Throws UnreadableObject. */
export function readSpec({ spec }: Pick<ApiRecord, 'spec'>): JsonObject {
  const why = unreadableSchema(spec['schema'])
  if (why !== undefined) throw new UnreadableObject(why)
  return spec
}

/** A moment in RFC 3339 as milliseconds since the epoch. */
export function readMoment(text: string): number {
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new UnreadableObject(`${JSON.stringify(text)} is no moment`)
  return at
}

export function formatMoment(at: number): string {
  return new Date(at).toISOString()
}

import { isJsonObject, type JsonObject } from '../../shared/json/fold.ts'
import type { StringMap } from '../ipam/records/pod-facts.ts'

/** What names an owner (meta/v1 OwnerReference). */
export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
}

/** The part of meta/v1 ObjectMeta that ipkeeper looks at. */
export interface ObjectMeta {
  readonly namespace: string | undefined
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly annotations: StringMap
  readonly labels: StringMap
  /** The owner with `controller: true`. */
  readonly controller: OwnerReference | undefined
  readonly deleting: boolean
}

/** The strings of a map; `wanted` says which keys are kept, so that what nobody reads costs no memory. */
export function stringMap(value: unknown, wanted: (key: string) => boolean = () => true): StringMap {
  if (!isJsonObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && wanted(entry[0]),
    ),
  )
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

function readController(references: unknown): OwnerReference | undefined {
  if (!Array.isArray(references)) return undefined
  const controller = references.filter(isJsonObject).find(reference => reference['controller'] === true)
  if (!controller) return undefined
  const { apiVersion, kind, name, uid } = controller
  if (!isText(apiVersion) || !isText(kind) || !isText(name) || !isText(uid)) return undefined
  return { apiVersion, kind, name, uid }
}

/** The metadata of an object; undefined when it is no object of the API. */
export function readMeta(
  object: JsonObject,
  wantedAnnotations?: (key: string) => boolean,
): ObjectMeta | undefined {
  const meta = object['metadata']
  if (!isJsonObject(meta)) return undefined
  const { namespace, name, uid, resourceVersion } = meta
  if (!isText(name) || !isText(uid) || !isText(resourceVersion)) return undefined
  return {
    namespace: isText(namespace) ? namespace : undefined,
    name,
    uid,
    resourceVersion,
    annotations: stringMap(meta['annotations'], wantedAnnotations),
    labels: stringMap(meta['labels']),
    controller: readController(meta['ownerReferences']),
    deleting: isText(meta['deletionTimestamp']),
  }
}

/** A part of an object by its path; undefined where there is none. */
export function at(object: JsonObject, ...path: readonly string[]): unknown {
  let value: unknown = object
  for (const key of path) {
    if (!isJsonObject(value)) return undefined
    value = value[key]
  }
  return value
}

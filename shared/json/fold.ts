import { Problem } from '../problem/problem.ts'

/** A JSON object as it was decoded. */
export type JsonObject = Readonly<Record<string, unknown>>

/** True for objects, not for arrays and null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The form in which Go's encoding/json compares keys. Lower case suffices but for the long s, which Go takes for an s
 * and toLowerCase leaves alone; the Kelvin sign becomes a k either way.
 */
function foldKey(key: string): string {
  return key.toLowerCase().replaceAll('\u017f', 's')
}

/** Whether Go takes two keys for one. */
export function isSameKey(one: string, other: string): boolean {
  return foldKey(one) === foldKey(other)
}

/**
 * The value of a key of a network configuration, as a Go plugin would see it: keys match without regard to case, of
 * several that match the last one that is not null wins, and null is as good as absent (cni-protocol C6, C7).
 * undefined when there is none.
 *
 * Two keys of exactly the same spelling are one to JSON.parse, so of these the last wins even when it is null; libcni,
 * which re-encodes every configuration, never sends such.
 */
export function field(object: JsonObject, name: string): unknown {
  const wanted = foldKey(name)
  let found: unknown
  for (const key in object) {
    const value = object[key]
    if (value === null || value === undefined) continue
    // Names are ASCII, and no key of another length folds to one: folding costs more than the rest of it.
    if (key === name || (key.length === name.length && foldKey(key) === wanted)) found = value
  }
  return found
}

/** A copy with one key set, in the place of all its spellings. */
export function withField(object: JsonObject, name: string, value: unknown): JsonObject {
  const wanted = foldKey(name)
  const others = Object.entries(object).filter(([key]) => foldKey(key) !== wanted)
  return { ...Object.fromEntries(others), [name]: value }
}

/** "a string", "an array": how messages name the type of a JSON value. */
export function jsonTypeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return `a ${typeof value}`
}

/** UTF-16 units of a foreign text that a message repeats; annotations may have 256 KiB. */
const shownLength = 200

/** A foreign text as a message may repeat it: cut where it is longer than a person reads. */
export function clipped(text: string): string {
  return text.length <= shownLength ? text : `${text.slice(0, shownLength)}...`
}

/**
 * A foreign value in a message: a text cut, in quotes and on one line, a number as it is, and what has parts by its type.
 * Never throws, which String and JSON.stringify do: for an object with a key "toString", and for one that nests deeper
 * than the stack.
 */
export function showJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(clipped(value))
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : jsonTypeName(value)
}

function wrongType(path: string, wanted: string, value: unknown): Problem {
  return new Problem('IPK_CONFIG_INVALID', `"${path}" must be ${wanted}, not ${jsonTypeName(value)}`)
}

/** Whether an object has a key at all, be it null: for the few keys where that means something else than absence. */
export function hasField(object: JsonObject, name: string): boolean {
  const wanted = foldKey(name)
  return Object.keys(object).some(key => foldKey(key) === wanted)
}

/**
 * The typed readers below look a key up with `field` and check the type of what they find: undefined when it is absent
 * or null, a Problem IPK_CONFIG_INVALID (CNI code 7) that names `path` when it has another type. `path` is how the
 * reader of the message finds the key, such as "ipam.ranges[0][1].subnet"; the name itself by default.
 */
export function stringField(object: JsonObject, name: string, path: string = name): string | undefined {
  const value = field(object, name)
  if (value === undefined || typeof value === 'string') return value
  throw wrongType(path, 'a string', value)
}

/** See stringField. */
export function numberField(object: JsonObject, name: string, path: string = name): number | undefined {
  const value = field(object, name)
  if (value === undefined || typeof value === 'number') return value
  throw wrongType(path, 'a number', value)
}

/** See stringField. Fractions, and whole numbers that a double cannot hold exactly, are no integers. */
export function integerField(object: JsonObject, name: string, path: string = name): number | undefined {
  const value = numberField(object, name, path)
  if (value === undefined || Number.isSafeInteger(value)) return value
  throw new Problem('IPK_CONFIG_INVALID', `"${path}" must be an integer, not ${value}`)
}

/** See stringField. */
export function booleanField(object: JsonObject, name: string, path: string = name): boolean | undefined {
  const value = field(object, name)
  if (value === undefined || typeof value === 'boolean') return value
  throw wrongType(path, 'true or false', value)
}

/** See stringField. */
export function objectField(object: JsonObject, name: string, path: string = name): JsonObject | undefined {
  const value = field(object, name)
  if (value === undefined || isJsonObject(value)) return value
  throw wrongType(path, 'an object', value)
}

/** See stringField. Elements may be anything, null included. */
export function arrayField(
  object: JsonObject,
  name: string,
  path: string = name,
): readonly unknown[] | undefined {
  const value = field(object, name)
  if (value === undefined || Array.isArray(value)) return value as readonly unknown[] | undefined
  throw wrongType(path, 'an array', value)
}

/** See stringField. An array of strings; an element of another type is named by its index. */
export function stringArrayField(
  object: JsonObject,
  name: string,
  path: string = name,
): readonly string[] | undefined {
  return arrayField(object, name, path)?.map((element, index) => {
    if (typeof element === 'string') return element
    throw wrongType(`${path}[${index}]`, 'a string', element)
  })
}

/** See stringField. An array of objects; an element of another type is named by its index. */
export function objectArrayField(
  object: JsonObject,
  name: string,
  path: string = name,
): readonly JsonObject[] | undefined {
  return arrayField(object, name, path)?.map((element, index) => {
    if (isJsonObject(element)) return element
    throw wrongType(`${path}[${index}]`, 'an object', element)
  })
}

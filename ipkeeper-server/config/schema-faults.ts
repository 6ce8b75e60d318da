import type { ErrorObject } from 'ajv'
import { nearestWord } from '../../shared/text/nearest-word.ts'
import { DaemonConfigFile } from './daemon-config.schema.ts'
import { type SchemaNode } from './schema-words.ts'
import type { SettingFaults, Path } from './setting-faults.ts'
import { showJson } from '../../shared/json/fold.ts'
import { schemaCheck } from '../host/schema-check.ts'

const check = schemaCheck<DaemonConfigFile>(DaemonConfigFile, { keywords: ['doc'], allErrors: true })

/** Steps of a JSON pointer; digits are an index where the value there is a list. */
function pathOf(pointer: string, value: unknown): Path {
  let at = value
  return pointer
    .split('/')
    .slice(1)
    .map(text => {
      const name = text.replaceAll('~1', '/').replaceAll('~0', '~')
      const step = Array.isArray(at) ? Number(name) : name
      at = (at as Record<string | number, unknown>)[step]
      return step
    })
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, step) => (at as Record<string | number, unknown>)[step], value)
}

function schemaAt(path: Path): SchemaNode {
  return path.reduce<SchemaNode>((node, step) => {
    if (typeof step === 'number') return node.items ?? {}
    if (node.properties && Object.hasOwn(node.properties, step)) return node.properties[step] ?? {}
    return Object.values(node.patternProperties ?? {})[0] ?? {}
  }, DaemonConfigFile)
}

/** What a value has to be, for people. */
function expectedAt(path: Path): string {
  return schemaAt(path).doc?.expected ?? 'what it has to be'
}

/** What each keyword of the schema complains of; those that are not here say that a value is not what it has to be. */
const complaints: Readonly<
  Record<string, (faults: SettingFaults, path: Path, params: ErrorObject['params'], value: unknown) => void>
> = {
  additionalProperties: (faults, path, { additionalProperty: key }) => {
    const name = String(key)
    const meant = nearestWord(name, Object.keys(schemaAt(path).properties ?? {}))
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
    faults.add([...path, name], `unknown key ${showValue(name)}${hint}`, 'key')
  },
  required: (faults, path, { missingProperty: key }) => {
    faults.add(path, `has no "${String(key)}"`)
  },
  propertyNames: (faults, path, { propertyName: key }) => {
    const name = String(key)
    const expected = schemaAt(path).propertyNames?.doc?.expected ?? 'a key'
    faults.add([...path, name], `${showValue(name)} is not ${expected}`, 'key')
  },
  minItems: (faults, path) => {
    faults.add(path, `is empty; it has to be ${expectedAt(path)}, or to be left away`)
  },
  maxItems: (faults, path, { limit }, value) => {
    faults.add(path, `has ${(value as unknown[]).length} entries; at most ${String(limit)} are allowed`)
  },
  maxProperties: (faults, path, { limit }, value) => {
    const { length } = Object.keys(value as object)
    faults.add(path, `has ${length} entries; at most ${String(limit)} are allowed`)
  },
  uniqueItems: (faults, path, { i, j }, value) => {
    const [later, earlier] = [Math.max(Number(i), Number(j)), Math.min(Number(i), Number(j))]
    faults.add(
      [...path, later],
      `${showValue((value as unknown[])[later])} is there already, as [${earlier}]`,
    )
  },
}

/**
 * Whether a decoded document has the shape of a configuration file; what is wrong with it is added to the faults. What
 * texts say, such as addresses and durations, is not looked at.
 */
export function checkShape(value: unknown, faults: SettingFaults): void {
  if (check.holds(value)) return
  for (const error of check.errors()) {
    // Says why a key is not valid, which the error of propertyNames says as well.
    if (error.propertyName !== undefined) continue
    const path = pathOf(error.instancePath, value)
    const at = valueAt(value, path)
    const complain = complaints[error.keyword]
    if (complain) complain(faults, path, error.params, at)
    // A value that is wrong in two ways needs saying once.
    else if (faults.isSound(path)) faults.add(path, `${showValue(at)} is not ${expectedAt(path)}`)
  }
}

/**
 * What a text of the file says. undefined when there is none, when its shape is wrong, or when it makes no sense, which is
 * a fault of its own.
 */
export function readText<T>(
  faults: SettingFaults,
  path: Path,
  value: unknown,
  parse: (text: string) => T | undefined,
): T | undefined {
  if (typeof value !== 'string' || !faults.isSound(path)) return undefined
  const parsed = parse(value)
  if (parsed === undefined) faults.add(path, `${showValue(value)} is not ${expectedAt(path)}`)
  return parsed
}

/** A value of the file in a message, on one line; what has parts by its kind. */
export function showValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  return value === null ? 'null' : showJson(value)
}

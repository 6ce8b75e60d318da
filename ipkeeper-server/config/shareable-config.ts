import { isJsonObject } from '../../shared/json/fold.ts'
import { DaemonConfigFile } from './daemon-config.schema.ts'
import { readKeptConfig } from './kept-config.ts'
import { readConfigText } from './load-config.ts'
import { pathPattern, type SchemaNode } from './schema-words.ts'
import { YamlSource } from './yaml-source.ts'

/** A configuration that may be shown to others. */
export interface ShareableConfig {
  /** Keys of the schema with their values; what no key allows is replaced. undefined: the text is no YAML. */
  readonly value: unknown
  /** What stands in the places of paths, and is none: perhaps the password itself, which messages would quote. */
  readonly suspects: readonly string[]
  /** The text and what it says as they are, which may hold secrets. */
  readonly text: string
  readonly decoded: unknown
}

const unknownKey = '(removed: not a key of the configuration)'
const wrongValue = '(removed: not a value of this key)'

const isPath = new RegExp(pathPattern)

function nodeBelow({ properties, patternProperties }: SchemaNode, key: string): SchemaNode | undefined {
  if (properties && Object.hasOwn(properties, key)) return properties[key]
  return Object.values(patternProperties ?? {})[0]
}

/** Only what the schema knows gets through: a password where a path belongs does not, nor anything in a key of its own. */
function shareable(value: unknown, node: SchemaNode | undefined, suspects: string[]): unknown {
  if (value === null) return value
  if (!node) return unknownKey
  const { type, items } = node
  if (Array.isArray(value)) return items ? value.map(item => shareable(item, items, suspects)) : wrongValue
  if (isJsonObject(value)) {
    if (type !== 'object') return wrongValue
    const entries = Object.entries(value)
    return Object.fromEntries(
      entries.map(([key, item]) => [key, shareable(item, nodeBelow(node, key), suspects)]),
    )
  }
  if (type === 'object' || type === 'array') return wrongValue
  if (node.pattern !== pathPattern || (typeof value === 'string' && isPath.test(value))) return value
  if (typeof value === 'string' || typeof value === 'number') suspects.push(String(value))
  return wrongValue
}

function shareableText(text: string): ShareableConfig {
  const { faults, value: decoded } = new YamlSource(text)
  const suspects: string[] = []
  const value = faults.length > 0 ? undefined : shareable(decoded ?? {}, DaemonConfigFile, suspects)
  return { value, suspects, text, decoded }
}

/** undefined where there is no such file. Throws IPK_DAEMON_CONFIG. */
export function shareableFile(path: string): ShareableConfig | undefined {
  const text = readConfigText(path)
  return text === undefined ? undefined : shareableText(text)
}

/** What was last in force, by the copy in the state folder; undefined where there is none. Throws IPK_CONFIG_COPY. */
export function shareableKept(stateDir: string): ShareableConfig | undefined {
  const text = readKeptConfig(stateDir)?.text
  return text === undefined ? undefined : shareableText(text)
}

import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { Ajv } from 'ajv'
import { isMap, isScalar, LineCounter, parseDocument, type Document } from 'yaml'
import { Problem } from '../../shared/problem/problem.ts'
import { nearestWord } from '../../shared/text/nearest-word.ts'
import { parseDuration, parseRetention, type Retention } from '../ipam/retention.ts'
import { DaemonConfigFile } from './daemon-config.schema.ts'

/** The effective configuration; durations in milliseconds. */
export interface DaemonConfig {
  readonly node: string
  readonly retention: Retention
  readonly cooldown: number
  readonly preferFor: number
  readonly logLevel: NonNullable<DaemonConfigFile['logLevel']>
}

const check = new Ajv({ allErrors: false, strict: true }).compile<DaemonConfigFile>(DaemonConfigFile)

const duration = 'a duration of at least 1s, such as 90s, 30m, 12h or 7d'

/** What a value has to be, for people. */
const expected: Readonly<Record<keyof DaemonConfigFile, string>> = {
  node: 'a name of letters, digits, "_", "." and "-"',
  retention: `release, while-owner-exists, forever, or ${duration}`,
  cooldown: duration,
  preferFor: duration,
  logLevel: 'one of trace, debug, info, warn, error, fatal',
}

/** The text of a configuration with a way to say where in it something is wrong. */
interface Source {
  readonly path: string
  readonly document: Document
  readonly lines: LineCounter
}

/** IPK_DAEMON_CONFIG at an offset of the text; at the file as a whole when the offset is not known. */
function fault({ path, lines }: Source, offset: number | undefined, what: string): Problem {
  if (offset === undefined) return new Problem('IPK_DAEMON_CONFIG', `${path}: ${what}`)
  const { line, col } = lines.linePos(offset)
  return new Problem('IPK_DAEMON_CONFIG', `${path}:${line}:${col}: ${what}`)
}

/** Where the value of a top-level key begins, or the key itself. */
function offsetOf({ document }: Source, name: string, part: 'key' | 'value'): number | undefined {
  if (!isMap(document.contents)) return undefined
  const pair = document.contents.items.find(({ key }) => isScalar(key) && String(key.value) === name)
  const node = part === 'value' && isScalar(pair?.value) ? pair.value : pair?.key
  return isScalar(node) ? node.range?.[0] : undefined
}

function wrongValue(source: Source, key: keyof DaemonConfigFile, value: unknown): Problem {
  const what = `${key}: ${JSON.stringify(value)} is not ${expected[key]}`
  return fault(source, offsetOf(source, key, 'value'), what)
}

/** What the schema does not allow: another document than a mapping, an unknown key, or a value of the wrong shape. */
function schemaFault(source: Source, value: unknown): Problem {
  const [error] = check.errors ?? []
  const [, key = ''] = (error?.instancePath ?? '').split('/')
  if (Object.hasOwn(expected, key)) {
    return wrongValue(source, key as keyof DaemonConfigFile, (value as Record<string, unknown>)[key])
  }
  const unknown = (error?.params as Record<string, unknown> | undefined)?.['additionalProperty']
  if (typeof unknown !== 'string') return fault(source, undefined, 'not a mapping of keys to values')
  const meant = nearestWord(unknown, Object.keys(expected))
  const text = `unknown key "${unknown}"${meant ? `; did you mean "${meant}"?` : ''}`
  return fault(source, offsetOf(source, unknown, 'key'), text)
}

/**
 * Text of the file (YAML, hence also JSON) to the effective configuration, defaults filled in. Throws IPK_DAEMON_CONFIG
 * with file, line and column, the key, its value and what was expected.
 */
export function parseConfig(text: string, path: string): DaemonConfig {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, prettyErrors: false })
  const source = { path, document, lines }
  const [broken] = document.errors
  if (broken) throw fault(source, broken.pos[0], broken.message)
  const value: unknown = document.toJS() ?? {}
  if (!check(value)) throw schemaFault(source, value)
  const read = <T>(
    key: keyof DaemonConfigFile,
    standard: string,
    parse: (text: string) => T | undefined,
  ): T => {
    const parsed = parse(value[key] ?? standard)
    if (parsed === undefined) throw wrongValue(source, key, value[key])
    return parsed
  }
  return {
    node: value.node ?? hostname(),
    retention: read('retention', 'release', parseRetention),
    cooldown: read('cooldown', '60s', parseDuration),
    preferFor: read('preferFor', '10m', parseDuration),
    logLevel: value.logLevel ?? 'info',
  }
}

/** Reads the file. Absent is an error only when it was named on the command line. */
export function loadConfig(path: string, mustExist: boolean): DaemonConfig {
  let text = ''
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (mustExist || code !== 'ENOENT') {
      throw new Problem('IPK_DAEMON_CONFIG', `${path}: cannot be read (${code})`, {
        cause: error,
        ...(code === 'ENOENT' && { hint: 'with --config the file has to exist; without it defaults apply' }),
      })
    }
  }
  return parseConfig(text, path)
}

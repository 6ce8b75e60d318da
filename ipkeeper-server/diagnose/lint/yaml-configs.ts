import { isMap, isScalar, Lexer, parseAllDocuments, visit, type Document } from 'yaml'
import { readAttachmentObjects, type NetworkDefinition, type SelectingPods } from './attachment-objects.ts'
import type { SyntaxFault } from './json/syntax-fault.ts'
import type { Span } from './json/json-node.ts'
import type { TextView } from './text-view.ts'
import { viewOfScalar } from './yaml-scalar.ts'

/** A configuration that stands as a text in a YAML file, such as under a key of a ConfigMap. */
export interface YamlConfig {
  readonly key: string
  readonly view: TextView
  /** Where it is that of a NetworkAttachmentDefinition. */
  readonly attachment?: NetworkDefinition
}

export interface YamlFile {
  readonly configs: readonly YamlConfig[]
  /** Mappings that are written as YAML and look like a network configuration themselves. */
  readonly plainConfigs: readonly Span[]
  readonly attachments: readonly NetworkDefinition[]
  readonly pods: readonly SelectingPods[]
  readonly faults: readonly (Omit<SyntaxFault, 'rule'> & { readonly rule: 'yaml-syntax' })[]
}

/** Whether a text is YAML rather than broken JSON: it begins with a key, a mark or a comment of YAML. */
export function looksLikeYaml(text: string): boolean {
  const lines = text.replace(/^\ufeff/, '').matchAll(/^(?!\s*(?:#.*)?$).*$/gm)
  const first = lines.next().value?.[0]
  return first !== undefined && /^(?:---|%YAML|-\s|[A-Za-z][\w./-]*\s*:(?:\s|$))/.test(first)
}

/** Whether a text is an object of Kubernetes, or a list of some, as YAML or as JSON, which is YAML. */
export function looksLikeManifest(text: string): boolean {
  return looksLikeYaml(text) || /^\s*\{\s*"(?:apiVersion|kind|items)"\s*:/.test(text)
}

/** What kubectl writes down of an object that it applied: a copy of it. */
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'

/** A text that is meant as a network configuration, be it ever so broken; flannel's "net-conf.json" is none. */
function isMeantAsConfig(key: string, text: string): boolean {
  if (key === lastApplied) return false
  if (/\.conflist$/.test(key)) return true
  const begins = /^\s*(?:\ufeff)?[[{/#]/.test(text)
  return (begins || /\.conf$/.test(key)) && /\b(?:cniVersion|plugins|ipam)\b/.test(text)
}

function looksLikeConfig(value: unknown): boolean {
  if (!isMap(value)) return false
  const has = (key: string): boolean => value.has(key)
  return has('cniVersion') && (has('plugins') || has('type'))
}

const wording: Readonly<Record<string, readonly [message: string, remedy: string]>> = {
  TAB_AS_INDENT: ['a tab; YAML is indented with spaces', 'use spaces instead'],
  DUPLICATE_KEY: ['the same key twice in one mapping', 'remove one of them'],
}

/** Of a file that is not read as YAML. */
export const nothingInYaml: YamlFile = {
  configs: [],
  plainConfigs: [],
  attachments: [],
  pods: [],
  faults: [],
}

/** Finds the network configurations in a YAML file of any number of documents. Never throws. */
export function readYaml(text: string): YamlFile {
  const faults: YamlFile['faults'][number][] = []
  const add = (start: number, end: number, message: string, remedy: string): void => {
    faults.push({ rule: 'yaml-syntax', start, end, message, remedy })
  }
  const deep = tooDeepYamlAt(text)
  if (deep !== undefined) {
    add(deep, deep + 1, `nests deeper than ${maxYamlDepth} levels`, 'write it again, flatter')
    return { ...nothingInYaml, faults }
  }
  const parsed = parseAllDocuments(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'error' })
  const documents: readonly Document[] = Array.isArray(parsed) ? parsed : []
  const configs: YamlConfig[] = []
  const plainConfigs: Span[] = []
  const attachments: NetworkDefinition[] = []
  const pods: SelectingPods[] = []
  for (const document of documents) {
    // One mistake of YAML makes many; the first of a document is where it is.
    const [error] = document.errors
    if (error) {
      const [message, remedy] = wording[error.code] ?? [
        error.message.replaceAll(/\s*\n\s*/g, ' '),
        'correct the YAML first',
      ]
      add(error.pos[0], Math.max(error.pos[1], error.pos[0] + 1), `not valid YAML: ${message}`, remedy)
    }
    const objects = readAttachmentObjects(document, text)
    attachments.push(...objects.attachments)
    pods.push(...objects.pods)
    plainConfigs.push(...objects.plainConfigs)
    for (const attachment of objects.attachments) {
      const { config } = attachment
      if (config) configs.push({ key: 'config', view: viewOfScalar(text, config), attachment })
    }
    const known = new Set<unknown>(objects.attachments.map(({ config }) => config))
    const addPlain = ([start, end]: readonly number[] = []): void => {
      if (start === undefined || end === undefined) return
      if (!plainConfigs.some(other => other.start === start)) plainConfigs.push({ start, end })
    }
    visit(document, {
      Map: (_, node) => {
        if (looksLikeConfig(node) && !node.flow) addPlain(node.range ?? undefined)
      },
      Pair: (_, { key, value }) => {
        if (!isScalar(key) || typeof key.value !== 'string' || known.has(value)) return
        if (isScalar(value) && typeof value.value === 'string') {
          if (isMeantAsConfig(key.value, value.value))
            configs.push({ key: key.value, view: viewOfScalar(text, value) })
        } else if (isMap(value) && value.flow && looksLikeConfig(value)) addPlain(value.range ?? undefined)
      },
    })
  }
  return { configs, plainConfigs, attachments, pods, faults }
}

/** Brackets within brackets, or list marks in one line. Files of ours need a dozen; the parser takes seconds for thousands. */
export const maxYamlDepth = 64

/** Tokens of the lexer that stand for no text: beginning of a document, end of a broken flow, scalar. */
const synthetic = new Set(['\u0002', '\u0018', '\u001f'])

/** The first place where a text nests deeper than anything of ours, before the YAML parser follows it there. */
export function tooDeepYamlAt(text: string): number | undefined {
  let offset = 0
  let brackets = 0
  let marks = 0
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') brackets++
    else if (token === ']' || token === '}') brackets--
    else if (token === '-' || token === '?') marks++
    else if (token === '\n' || token === '\r\n') marks = 0
    if (brackets > maxYamlDepth || marks > maxYamlDepth) return offset
    if (!synthetic.has(token)) offset += token.length
  }
  return undefined
}

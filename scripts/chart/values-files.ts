/** What Helm reads of the values: values.yaml, values.schema.json, and checks that say in a sentence what a schema says by a pattern. */
import { stringify } from 'yaml'
import type { SchemaNode } from '../../ipkeeper-server/config/schema-words.ts'
import { goPattern } from '../structural-schema.ts'
import { ChartValues, ownKeys } from './values.schema.ts'

interface ValueNode extends SchemaNode {
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, ValueNode>>
}

const by =
  'Made by scripts/generate-chart.ts from scripts/chart/values.schema.ts; change that, then: make generate'
const width = 110

// TypeBox marks its schemas with symbols, which are nobody else's business.
const root = JSON.parse(JSON.stringify(ChartValues)) as ValueNode

const childrenOf = (node: ValueNode): readonly (readonly [string, ValueNode])[] =>
  'default' in node ? [] : Object.entries(node.properties ?? {})

/** Words of a text in lines of a comment. */
function comment(text: string, indent: string): string {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && indent.length + 2 + last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.map(line => `${indent}# ${line}\n`).join('')
}

function valueLines(key: string, node: ValueNode, indent: string): string {
  const words = node.enum ? ` One of ${node.enum.filter(word => word !== '').join(', ')}.` : ''
  const head = comment(`${node.description ?? ''}${words}`, indent)
  const children = childrenOf(node)
  if (children.length > 0)
    return `${head}${indent}${key}:\n${children.map(([name, child]) => valueLines(name, child, `${indent}  `)).join('')}`
  return `${head}${stringify({ [key]: node.default }, { lineWidth: 0 }).replaceAll(/^(?=.)/gm, indent)}`
}

export function valuesFile(): string {
  const parts = childrenOf(root).map(([key, node]) => valueLines(key, node, ''))
  return [`# Every value of the chart, with its default. ${by}\n`, ...parts].join('\n')
}

/** A schema without what is for us, and with patterns that Go can read. */
function cleaned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cleaned)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as Readonly<Record<string, unknown>>)
  return Object.fromEntries(
    entries
      .filter(([keyword]) => keyword !== 'doc')
      .map(([keyword, inner]) => [
        keyword,
        keyword === 'pattern' && typeof inner === 'string' ? goPattern(inner) : cleaned(inner),
      ]),
  )
}

/** What Helm checks: types, words, figures and names of values. The forms of the chart's own texts are checked by its templates. */
function plainSchema(node: ValueNode): object {
  const children = childrenOf(node)
  const { pattern, properties, ...rest } = node
  if (children.length === 0) return cleaned(pattern !== undefined && node.doc ? rest : node) as object
  const inner = Object.fromEntries(children.map(([key, child]) => [key, plainSchema(child)]))
  return { ...(cleaned(rest) as object), ...(properties && { properties: inner }) }
}

export function schemaOfValues(): string {
  const { properties, ...rest } = plainSchema(root) as ValueNode
  // Helm gives every chart that is part of another one the values of all.
  const global = { type: 'object', description: 'Not used.' }
  const schema = { ...rest, properties: { ...properties, global } }
  const head = { $schema: 'http://json-schema.org/draft-07/schema#', $comment: by }
  return `${JSON.stringify({ ...head, ...schema }, undefined, 2)}\n`
}

/** Texts of a certain form, by the path of their value. */
function* formsOf(path: string, node: ValueNode): Iterable<readonly [path: string, node: ValueNode]> {
  if (node.pattern !== undefined && node.doc !== undefined) yield [path, node]
  for (const [key, child] of childrenOf(node)) yield* formsOf(path === '' ? key : `${path}.${key}`, child)
}

export function checksOfValues(): string {
  const forms = [...formsOf('', root)].map(
    ([path, { pattern = '', doc }]) =>
      `{{- if not (regexMatch \`${pattern}\` (toString .Values.${path})) }}
{{- fail (printf "${path}: %q is not %s" (toString .Values.${path}) ${JSON.stringify(doc?.expected)}) }}
{{- end }}`,
  )
  const own = Object.entries(ownKeys).map(
    ([key, instead]) => `{{- if hasKey .Values.config "${key}" }}
{{- fail "config.${key}: the chart writes it: ${instead.replaceAll('"', '\\"')}" }}
{{- end }}`,
  )
  return [
    `{{- /* ${by} */}}`,
    '{{- define "ipkeeper.checkForms" }}',
    ...forms,
    ...own,
    '{{- end }}',
    '',
  ].join('\n')
}

import { isJsonObject, type JsonObject } from '../../../../shared/json/fold.ts'

/** A part of a text, in UTF-16 units from 0; `end` is the place behind it. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** `unknown` stands for what is no JSON value and was complained of: nothing more is said about it. */
export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null' | 'unknown'

/** A value of a text that may have mistakes, with its place. */
export interface JsonNode extends Span {
  readonly kind: JsonKind
  /** Of a string, number, boolean or null. */
  readonly value: string | number | boolean | null
  /** Of an object, in their order; keys may come twice. */
  readonly members: readonly JsonMember[]
  /** Of an array. */
  readonly items: readonly JsonNode[]
}

/** A value without members or items. */
export function leafNode(kind: JsonKind, { start, end }: Span, value: JsonNode['value'] = null): JsonNode {
  return { kind, start, end, value, members: [], items: [] }
}

export interface JsonMember {
  readonly key: string
  readonly keySpan: Span
  readonly value: JsonNode
}

/** Steps from an object to something within it. */
export type JsonPath = readonly (string | number)[]

const fold = (key: string): string => key.toLowerCase()

/**
 * The member that a Go plugin takes for a key: without regard to case, of several the last that is not null
 * (shared/json/fold.ts says the same of decoded values).
 */
export function memberOf(node: JsonNode | undefined, key: string): JsonMember | undefined {
  const members = node?.members.filter(member => fold(member.key) === fold(key)) ?? []
  return members.findLast(member => member.value.kind !== 'null') ?? members.at(-1)
}

/** The value of a key, null counting as absent. */
export function valueOf(node: JsonNode | undefined, key: string): JsonNode | undefined {
  const value = memberOf(node, key)?.value
  return value?.kind === 'null' ? undefined : value
}

/** The text of a key whose value is a string. */
export function textField(node: JsonNode | undefined, key: string): string | undefined {
  const value = valueOf(node, key)?.value
  return typeof value === 'string' ? value : undefined
}

/** As far as a path leads: the last value on the way that is there. */
export function nodeAt(node: JsonNode, path: JsonPath): { readonly node: JsonNode; readonly whole: boolean } {
  let found = node
  for (const step of path) {
    const next = typeof step === 'number' ? found.items[step] : valueOf(found, step)
    if (!next) return { node: found, whole: false }
    found = next
  }
  return { node: found, whole: true }
}

/** The value as JSON.parse would give it; what is no value becomes null. The parser bounds the depth. */
export function toJson(node: JsonNode): unknown {
  if (node.kind === 'array') return node.items.map(toJson)
  if (node.kind === 'object')
    return Object.fromEntries(node.members.map(({ key, value }) => [key, toJson(value)]))
  return node.value
}

/** The same of an object; empty for anything else. */
export function toJsonObject(node: JsonNode): JsonObject {
  const value = toJson(node)
  return isJsonObject(value) ? value : {}
}

/** Every value of a document, parents before children, without recursion. */
export function* allNodes(root: JsonNode): Iterable<JsonNode> {
  const waiting = [root]
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    yield node
    for (const { value } of node.members.toReversed()) waiting.push(value)
    waiting.push(...node.items.toReversed())
  }
}

import { valueOf, type JsonNode } from '../json/json-node.ts'
import { keyedObjects } from '../keyed-objects.ts'
import { commonKeys, type KeyTable, type ValueKind } from '../plugin-keys.ts'
import { hasRanges, ipamSections } from '../ranges.ts'
import type { Diagnostic, LintRule } from '../rule.ts'
import { spotOf, type CniDocument } from '../site.ts'

const kindNames: Readonly<Record<JsonNode['kind'], string>> = {
  ...{ object: 'an object', array: 'an array', string: 'a string', number: 'a number' },
  ...{ boolean: 'true or false', null: 'null', unknown: '' },
}

function fits({ kind, value }: JsonNode, wanted: ValueKind): boolean {
  if (wanted === 'anything' || kind === 'null' || kind === 'unknown') return true
  if (wanted === 'an integer') return kind === 'number' && Number.isSafeInteger(value)
  return kindNames[kind] === wanted
}

/** What to write, where the text within quotes is the value that is wanted. */
function remedyFor({ value }: JsonNode, wanted: ValueKind): string {
  const bare = typeof value === 'string' ? value.trim() : ''
  if (wanted === 'an integer' && /^-?\d+$/.test(bare)) return `write ${bare}, without quotes`
  if (wanted === 'true or false' && /^(?:true|false)$/i.test(bare))
    return `write ${bare.toLowerCase()}, without quotes`
  if (wanted === 'a string' && (typeof value === 'number' || typeof value === 'boolean'))
    return `write "${String(value)}"`
  if (wanted === 'an array' && value !== null) return `write [${JSON.stringify(value)}]`
  return `write ${wanted}`
}

function wrong(document: CniDocument, name: string, node: JsonNode, wanted: ValueKind): Diagnostic {
  const found = node.kind === 'number' && wanted === 'an integer' ? 'a fraction' : kindNames[node.kind]
  const span =
    node.kind === 'object' || node.kind === 'array' ? { start: node.start, end: node.start + 1 } : node
  return {
    at: spotOf(document, span),
    message: `${name} must be ${wanted}, not ${found}`,
    remedy: remedyFor(node, wanted),
  }
}

function* wrongMembers(document: CniDocument, node: JsonNode, kinds: KeyTable): Iterable<Diagnostic> {
  for (const [key, wanted] of Object.entries(kinds)) {
    const value = valueOf(node, key)
    if (value && !fits(value, wanted)) yield wrong(document, JSON.stringify(key), value, wanted)
  }
}

export const wrongType: LintRule = {
  id: 'wrong-type',
  severity: 'error',
  summary:
    'A value of another type than the program can decode, such as `"mtu": "1450"`; also range sets that are not lists themselves. Go refuses the whole configuration.',
  *check(site) {
    const done = new Set<JsonNode>()
    for (const { document, node, kinds } of keyedObjects(site)) {
      yield* wrongMembers(document, node, kinds)
      if (Object.keys(kinds).length > 0) done.add(node)
    }
    for (const { node, network } of site.plugins) {
      const { document } = network
      if (!done.has(node)) yield* wrongMembers(document, node, commonKeys)
      for (const { key, value } of valueOf(node, 'capabilities')?.members ?? [])
        if (!fits(value, 'true or false'))
          yield wrong(document, `capability ${JSON.stringify(key)}`, value, 'true or false')
    }
    for (const { document, root } of site.networks) {
      for (const [index, item] of (valueOf(root, 'plugins')?.items ?? []).entries())
        if (!fits(item, 'an object') || item.kind === 'null')
          yield wrong(document, `plugin ${index + 1} of the list`, item, 'an object')
    }
    for (const section of ipamSections(site)) {
      if (!hasRanges(section)) continue
      const { document } = section.entry.network
      for (const [index, set] of (valueOf(section.node, 'ranges')?.items ?? []).entries()) {
        if (set.kind === 'object')
          yield {
            ...wrong(document, `range set ${index}`, set, 'an array'),
            remedy: 'a range set is a list of ranges: write [[{ "subnet": ... }]]',
          }
        else if (!fits(set, 'an array')) yield wrong(document, `range set ${index}`, set, 'an array')
        for (const range of set.items)
          if (!fits(range, 'an object')) yield wrong(document, 'a range', range, 'an object')
      }
    }
  },
}

import { valueOf, type JsonNode } from '../json/json-node.ts'
import { keyedObjects } from '../keyed-objects.ts'
import { commonKeys, type KeyTable, type ValueKind } from '../plugin-keys.ts'
import { remedyForKind } from '../meant-value.ts'
import { hasRanges, ipamSections } from '../ranges.ts'
import type { Diagnostic, LintRule } from '../lint-rule.ts'
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

/** @param place the key that has the value, or what an item of a list is */
function wrong(
  document: CniDocument,
  name: string,
  node: JsonNode,
  wanted: ValueKind,
  place: string,
): Diagnostic {
  const found = node.kind === 'number' && wanted === 'an integer' ? 'a fraction' : kindNames[node.kind]
  const span =
    node.kind === 'object' || node.kind === 'array' ? { start: node.start, end: node.start + 1 } : node
  return {
    at: spotOf(document, span),
    message: `${name} must be ${wanted}, not ${found}`,
    remedy: remedyForKind(node, wanted, place),
  }
}

function* wrongMembers(document: CniDocument, node: JsonNode, kinds: KeyTable): Iterable<Diagnostic> {
  for (const [key, wanted] of Object.entries(kinds)) {
    const value = valueOf(node, key)
    if (value && !fits(value, wanted)) yield wrong(document, JSON.stringify(key), value, wanted, key)
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
          yield wrong(document, `capability ${JSON.stringify(key)}`, value, 'true or false', 'capability')
    }
    for (const { document, root } of site.networks) {
      for (const [index, item] of (valueOf(root, 'plugins')?.items ?? []).entries())
        if (!fits(item, 'an object') || item.kind === 'null')
          yield wrong(document, `plugin ${index + 1} of the list`, item, 'an object', 'plugin')
    }
    for (const section of ipamSections(site)) {
      if (!hasRanges(section)) continue
      const { document } = section.entry.network
      for (const [index, set] of (valueOf(section.node, 'ranges')?.items ?? []).entries()) {
        if (set.kind === 'object')
          yield {
            ...wrong(document, `range set ${index}`, set, 'an array', 'range set'),
            remedy: 'a range set is a list of ranges: write [[{ "subnet": ... }]]',
          }
        else if (!fits(set, 'an array'))
          yield wrong(document, `range set ${index}`, set, 'an array', 'range set')
        for (const range of set.items)
          if (!fits(range, 'an object')) yield wrong(document, 'a range', range, 'an object', 'range')
      }
    }
  },
}

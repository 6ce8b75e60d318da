import type { JsonNode } from './json/json-node.ts'
import { textOf, valueOf } from './json/json-node.ts'

/** The value of a key that libcni looks up letter for letter, in a list. */
function exact(root: JsonNode, key: string): JsonNode | undefined {
  return root.members.findLast(member => member.key === key)?.value
}

function whyNotList(root: JsonNode): string | undefined {
  const name = exact(root, 'name')
  if (!name) return 'it has no "name"'
  if (name.kind !== 'string') return '"name" is no text'
  const version = exact(root, 'cniVersion')
  if (version && version.kind !== 'string') return '"cniVersion" is no text'
  const plugins = exact(root, 'plugins')
  if (!plugins) return 'it has no "plugins"'
  if (plugins.kind !== 'array' || plugins.items.length === 0) return '"plugins" is no list of plugins'
  const untyped = plugins.items.findIndex(item => (textOf(item, 'type') ?? '') === '')
  return untyped < 0 ? undefined : `plugin ${untyped + 1} of its list has no "type"`
}

function whyNotSingle(root: JsonNode): string | undefined {
  if ((textOf(root, 'type') ?? '') !== '') return undefined
  return valueOf(root, 'plugins') === undefined
    ? 'it has no "type"'
    : 'it holds a list, which has to be in a .conflist'
}

/**
 * Why libcni would refuse a text that is JSON, in a file of this name; undefined when it would load it. After
 * libcni/conf.go: keys of a list are looked up letter for letter, those of a plugin are not.
 */
export function whyNotLoadable(fileName: string, root: JsonNode): string | undefined {
  if (root.kind !== 'object') return 'it is no JSON object'
  return fileName.endsWith('.conflist') ? whyNotList(root) : whyNotSingle(root)
}

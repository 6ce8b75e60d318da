import { textField, valueOf, type JsonNode } from './json/json-node.ts'

/** Names that runtimes take for network configurations (libcni's ConfFiles: the part from the last point on). */
const loaded = /\.(?:conf|conflist|json)$/

/** Whether containerd and CRI-O would read a file of this name. A point at its beginning does not hide it from them. */
export function isRuntimeFile(name: string): boolean {
  return loaded.test(name)
}

/** Whether a name is one of those under which people and programs keep a copy of a configuration. */
export function isCopyOfConfig(name: string): boolean {
  return /\.(?:conf|conflist|json)(?:~|[._-].+)$/.test(name) && !isRuntimeFile(name)
}

/** In the order of their bytes in UTF-8, which is how Go sorts: that of code points, not of UTF-16 units. */
export function compareNames(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)]
  for (const [index, character] of left.entries()) {
    const other = right[index]
    if (other === undefined) return 1
    const difference = (character.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** The value of a key that libcni looks up letter for letter, in a list. */
function exact(root: JsonNode, key: string): JsonNode | undefined {
  return root.members.findLast(member => member.key === key)?.value
}

function whyNotList(root: JsonNode): string | undefined {
  const name = exact(root, 'name')
  if (!name) return 'it has no "name"'
  if (name.kind !== 'string') return '"name" is not a string'
  const version = exact(root, 'cniVersion')
  if (version && version.kind !== 'string') return '"cniVersion" is not a string'
  const plugins = exact(root, 'plugins')
  if (!plugins) return 'it has no "plugins"'
  if (plugins.kind !== 'array' || plugins.items.length === 0) return '"plugins" is not a list of plugins'
  const untyped = plugins.items.findIndex(item => (textField(item, 'type') ?? '') === '')
  return untyped < 0 ? undefined : `plugin ${untyped + 1} of its list has no "type"`
}

function whyNotSingle(root: JsonNode): string | undefined {
  if ((textField(root, 'type') ?? '') !== '') return undefined
  return valueOf(root, 'plugins') === undefined
    ? 'it has no "type"'
    : 'it holds a list, which belongs in a .conflist'
}

/**
 * Why libcni would refuse a text that is JSON, in a file of this name; undefined when it would load it. After
 * libcni/conf.go: keys of a list are looked up letter for letter, those of a plugin are not.
 */
export function whyNotLoadable(fileName: string, root: JsonNode): string | undefined {
  if (root.kind !== 'object') return 'it is not a JSON object'
  return fileName.endsWith('.conflist') ? whyNotList(root) : whyNotSingle(root)
}

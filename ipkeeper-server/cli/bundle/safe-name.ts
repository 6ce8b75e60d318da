/** A file's name from outside as part of a name of ours: ASCII, short, no folder, and none of two the same. */
export function safeName(name: string, index: number): string {
  const clean = name.replaceAll(/[^\w.-]/g, '_').replace(/^\.+/, '_')
  if (clean === name && name.length <= 60) return name
  return `${clean.slice(0, 60)}~${index + 1}`
}

/** The name of a node in a file's name. */
export const nodeWord = (node: string): string =>
  node
    .replaceAll(/[^\w.-]/g, '_')
    .replace(/^[.-]+/, '')
    .slice(0, 63) || 'node'

/** Names that runtimes take for network configurations (libcni's ConfFiles: the part from the last point on). */
const loaded = /\.(?:conf|conflist|json)$/

/** Whether containerd and CRI-O would read a file of this name. A point at its beginning does not hide it from them. */
export function isRuntimeFile(name: string): boolean {
  return loaded.test(name)
}

/** Whether a name is one of those under which people and programs put a configuration aside. */
export function isSetAside(name: string): boolean {
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

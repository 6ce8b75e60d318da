/**
 * Whether a name is what a pattern says, in which "*" stands for any characters. Without a regular expression: patterns
 * come from outside, and their cost is to be that of reading them.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return name === head
  if (name.length < head.length + tail.length || !name.startsWith(head) || !name.endsWith(tail)) return false
  const middle = name.slice(head.length, name.length - tail.length)
  let from = 0
  return rest.every(part => {
    const found = middle.indexOf(part, from)
    from = found + part.length
    return found >= 0
  })
}

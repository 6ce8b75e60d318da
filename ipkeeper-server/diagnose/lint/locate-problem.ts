import type { Problem } from '../../../shared/problem/problem.ts'
import { memberOf, nodeAt, valueOf, type JsonNode, type JsonPath, type Span } from './json/json-node.ts'

/** Names of keys as messages write them: ipam.ranges[0][1].subnet, "mode", serviceCidrs[2]. */
const pathPattern = /[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*|\[\d+\])*/g

function stepsOf(text: string): JsonPath {
  return Array.from(text.matchAll(/[A-Za-z][\w-]*|\d+/g), ([step]) =>
    /^\d/.test(step) ? Number(step) : step,
  )
}

/** A range set that host-local's texts number: those of "ranges" come after the one that "ipam" itself may be. */
function rangeSet(message: string, root: JsonNode): JsonNode | undefined {
  const [, number] = /range set (\d+)/.exec(message) ?? []
  const ipam = valueOf(root, 'ipam')
  if (number === undefined || !ipam) return undefined
  const before = valueOf(ipam, 'subnet') ? 1 : 0
  return Number(number) < before
    ? valueOf(ipam, 'subnet')
    : valueOf(ipam, 'ranges')?.items[Number(number) - before]
}

/**
 * Where in a plugin's configuration a problem of our own readers is: they name the key in message or details, as path from
 * the plugin on. What they name nowhere is a matter of the plugin as a whole, and stands at its type.
 */
export function locateProblem({ message, details }: Problem, root: JsonNode): Span {
  const set = rangeSet(message, root)
  if (set) return set
  const unknown = /^(?:([\w.[\]]+): )?unknown key ("(?:[^"\\]|\\.)*")/.exec(message)
  if (unknown) {
    const [, path = '', key = '""'] = unknown
    const { node } = nodeAt(root, stepsOf(path))
    const member = node.members.find(candidate => JSON.stringify(candidate.key) === key)
    if (member) return member.keySpan
  }
  for (const text of [details, message]) {
    for (const { 0: found, index } of text.matchAll(pathPattern)) {
      // A word of the sentence that happens to be a key is none, unless the message begins with it.
      const named = /[.[]/.test(found) || text[index - 1] === '"' || index === 0
      if (!named) continue
      const { node, whole } = nodeAt(root, stepsOf(found))
      if (whole && node !== root) return node
      if (!whole && found.includes('.') && node !== root) return { start: node.start, end: node.start + 1 }
    }
  }
  const at = memberOf(root, 'ipam')?.keySpan ?? memberOf(root, 'type')?.keySpan
  return at ?? { start: root.start, end: root.start + 1 }
}

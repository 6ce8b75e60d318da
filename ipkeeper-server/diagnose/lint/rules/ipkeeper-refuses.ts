import { readFallback } from '../../../../shared/cni/fallback.ts'
import { isSupportedVersion } from '../../../../shared/cni/versions.ts'
import { pluginSettings } from '../../../../shared/cni/netconf.ts'
import { networkNameFault } from '../../../../shared/cni/identifiers.ts'
import type { JsonObject } from '../../../../shared/json/fold.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { readIdentity, readIpamConfig } from '../../../ipam/request/network-config.ts'
import { readMainConfig } from '../../../network/plan/read-main-config.ts'
import { memberOf, nodeAt, valueOf, type JsonNode, type JsonPath, type Span } from '../json/json-node.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf, type PluginEntry } from '../site.ts'
import { usesIpkeeper } from '../uses-ipkeeper.ts'

/** What plugin and daemon read of a configuration, each with its own complaints. */
const readers: readonly ((config: JsonObject) => unknown)[] = [
  config => readIpamConfig(config, readIdentity(config)),
  config => (readIdentity(config).mainRole ? readMainConfig(config) : undefined),
  config => readFallback(config),
  config => pluginSettings(config, {}),
]

/** The readers compare each range with each other; no configuration has so many. */
const mostRanges = 500

function rangesOf({ node }: PluginEntry): number {
  const sets = valueOf(valueOf(node, 'ipam'), 'ranges')?.items ?? []
  return sets.reduce((sum, { items }) => sum + items.length, sets.length)
}

/** With a good name and version: those have rules of their own. */
function readable({ config, network: { name, cniVersion } }: PluginEntry): JsonObject {
  const good = name !== undefined && !networkNameFault(name)
  return {
    ...config,
    name: good ? name : 'net',
    cniVersion: isSupportedVersion(cniVersion) ? cniVersion : '1.0.0',
  }
}

function problemOf(read: () => unknown): Problem | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

export const ipkeeperRefuses: LintRule = {
  id: 'ipkeeper-refuses',
  severity: 'error',
  summary:
    'Whatever else the plugin or the daemon would refuse at ADD, in their own words: the linter runs the same code. Reported only where no other rule has an error in that place.',
  onlyIfAlone: true,
  *check({ plugins }) {
    for (const entry of plugins) {
      if (!usesIpkeeper(entry.config) || rangesOf(entry) > mostRanges) continue
      const config = readable(entry)
      const reported = new Set<string>()
      for (const read of readers) {
        const problem = problemOf(() => read(config))
        if (!problem || reported.has(problem.message)) continue
        reported.add(problem.message)
        const { message, hint, details } = problem
        const where = details === '' ? '' : ` (${details})`
        yield {
          at: spotOf(entry.network.document, locateProblem(problem, entry.node)),
          message: `ipkeeper refuses this: ${message}${where} [${problem.code}]`,
          remedy: hint,
        }
      }
    }
  },
}

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
function locateProblem({ message, details }: Problem, root: JsonNode): Span {
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

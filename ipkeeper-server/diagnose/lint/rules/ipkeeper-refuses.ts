import { readFallback } from '../../../../shared/cni/fallback.ts'
import { isSupportedVersion } from '../../../../shared/cni/versions.ts'
import { pluginSettings } from '../../../../shared/cni/netconf.ts'
import { networkNameFault } from '../../../../shared/cni/identifiers.ts'
import type { JsonObject } from '../../../../shared/json/fold.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { readIdentity, readIpamConfig } from '../../../ipam/request/network-config.ts'
import { readMainConfig } from '../../../network/plan/read-main-config.ts'
import { valueOf } from '../json/json-node.ts'
import { locateProblem } from '../locate-problem.ts'
import type { LintRule } from '../rule.ts'
import { spotOf, type PluginEntry } from '../site.ts'
import { usesIpkeeper } from '../uses-ipkeeper.ts'

/** What plugin and daemon read of a configuration, each with its own complaints. */
const readers: readonly ((config: JsonObject) => unknown)[] = [
  config => readIpamConfig(config, readIdentity(config)),
  config => (readIdentity(config).mainRole ? readMainConfig(config) : undefined),
  config => readFallback(config),
  config => pluginSettings(config, {}),
]

/** The readers compare each range with each other; nobody has so many. */
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
    'Whatever else the plugin or the daemon would refuse at ADD, in their own words: the linter runs the same code. Said only where no other rule has an error in that place.',
  onlyIfAlone: true,
  *check({ plugins }) {
    for (const entry of plugins) {
      if (!usesIpkeeper(entry.config) || rangesOf(entry) > mostRanges) continue
      const config = readable(entry)
      const told = new Set<string>()
      for (const read of readers) {
        const problem = problemOf(() => read(config))
        if (!problem || told.has(problem.message)) continue
        told.add(problem.message)
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

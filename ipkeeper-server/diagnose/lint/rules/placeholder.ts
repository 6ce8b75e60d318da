import { allNodes } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

/** Words that a plugin or installer of somebody else puts a subnet for. */
const placeholder =
  /^(?:usePodCidr(?:IPv6)?|usePodCIDR(?:IPv6)?|podCidr|podCIDR|clusterCIDR|CHANGEME|changeme|TODO|FIXME|xxx+|XXX+)$/

export const placeholderRule: LintRule = {
  id: 'placeholder',
  severity: 'error',
  summary:
    'A word in the place of a value, such as `usePodCidr`, which only the `calico` plugin replaces by itself.',
  *check({ plugins }) {
    for (const { node, type, network } of plugins) {
      if (type === 'calico') continue
      for (const { kind, value, ...span } of allNodes(node)) {
        if (kind !== 'string' || typeof value !== 'string' || !placeholder.test(value)) continue
        yield {
          at: spotOf(network.document, span),
          message: `${JSON.stringify(value)} stands for a value, and no program puts it there`,
          remedy: 'write the value, such as "10.244.3.0/24"',
        }
      }
    }
  },
}

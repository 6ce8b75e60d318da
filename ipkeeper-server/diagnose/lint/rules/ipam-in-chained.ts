import { memberOf } from '../json/json-node.ts'
import { referencePlugin } from '../plugin-keys.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

export const ipamInChained: LintRule = {
  id: 'ipam-in-chained',
  severity: 'warning',
  summary:
    'An `ipam` section in a plugin that asks nobody for addresses, such as `portmap`. It has no effect.',
  *check({ plugins }) {
    for (const { type, node, network } of plugins) {
      const ipam = memberOf(node, 'ipam')
      if (!ipam || ipam.value.members.length === 0 || referencePlugin(type)?.role !== 'chained') continue
      yield {
        at: spotOf(network.document, ipam.keySpan),
        message: `${type ?? ''} asks nobody for addresses: "ipam" has no effect here`,
        remedy: 'move it to the plugin that makes the interface',
      }
    }
  },
}

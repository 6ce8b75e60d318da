import { memberOf, valueOf } from '../json/json-node.ts'
import { referencePlugin } from '../plugin-keys.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf } from '../site.ts'

export const chainedFirst: LintRule = {
  id: 'chained-first',
  severity: 'error',
  summary:
    'A plugin that changes what another one made (`portmap`, `bandwidth`, `tuning`, `firewall`, `sbr`, `vrf`) and comes first, or an IPAM plugin in place of a main one. Its ADD fails.',
  *check({ plugins }) {
    for (const { type, index, node, network } of plugins) {
      const known = referencePlugin(type)
      const at = valueOf(node, 'type')
      if (!known || !at) continue
      const chained = known.role === 'chained' && index === 0 && network.document.standing === 'runtime'
      const ipam = known.role === 'ipam' && memberOf(node, 'ipam') === undefined
      if (!chained && !ipam) continue
      yield {
        at: spotOf(network.document, at),
        message: chained
          ? `${type ?? ''} comes first, and needs the result of a plugin before it`
          : `${type ?? ''} gives addresses to a plugin and makes no interface itself`,
        remedy: chained
          ? 'put a plugin that makes the interface before it, such as "bridge"'
          : `write "type": "bridge", "ipam": { "type": "${type ?? ''}", ... }`,
      }
    }
  },
}

export const ipamInChained: LintRule = {
  id: 'ipam-in-chained',
  severity: 'warning',
  summary:
    'An `ipam` section in a plugin that does not assign addresses, such as `portmap`. It has no effect.',
  *check({ plugins }) {
    for (const { type, node, network } of plugins) {
      const ipam = memberOf(node, 'ipam')
      if (!ipam || ipam.value.members.length === 0 || referencePlugin(type)?.role !== 'chained') continue
      yield {
        at: spotOf(network.document, ipam.keySpan),
        message: `${type ?? ''} does not assign addresses: "ipam" has no effect here`,
        remedy: 'move it to the plugin that makes the interface',
      }
    }
  },
}

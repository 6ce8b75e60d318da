import { field } from '../../../../shared/json/fold.ts'
import { memberOf } from '../json/json-node.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf } from '../site.ts'

export const staysOnNode: LintRule = {
  id: 'stays-on-node',
  severity: 'note',
  summary:
    'Mode `bridge` or `ptp` on a node that shares its store with others, where pods of other nodes have no way to the addresses: `nodeRoutes` is off, or the bridge is not a gateway. Only the daemon knows that, and those who ask it.',
  *check({ input, plugins }) {
    if (input.nodeRoutes === undefined) return
    for (const { config, node, network } of plugins) {
      if (field(config, 'type') !== 'ipkeeper') continue
      const mode = field(config, 'mode') ?? 'bridge'
      const isGateway = field(config, 'isGateway') === true || field(config, 'isDefaultGateway') === true
      const off = input.nodeRoutes === 'off'
      if (!(mode === 'ptp' && off) && !(mode === 'bridge' && (off || !isGateway))) continue
      const at = memberOf(node, 'mode') ?? memberOf(node, 'type')
      if (!at) continue
      yield {
        at: spotOf(network.document, at.value),
        message: `addresses of mode ${mode} are not reachable from other nodes: ${off ? '"nodeRoutes" is off in the configuration of the daemon' : 'the bridge is not a gateway'}`,
        remedy: off
          ? 'write "nodeRoutes: auto" there, or use mode underlay or macvlan if pods of other nodes are to reach these'
          : 'write "isGateway": true if pods of other nodes are to reach these',
      }
    }
  },
}

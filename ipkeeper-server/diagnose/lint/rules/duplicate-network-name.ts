import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf, type Network } from '../site.ts'

export const duplicateNetworkName: LintRule = {
  id: 'duplicate-network-name',
  severity: 'warning',
  summary:
    'Two files of one folder that name the same network. Runtimes disagree on which of them counts, and results of both go to one cache.',
  *check({ networks, input }) {
    if (!input.directory) return
    const first = new Map<string, Network>()
    for (const network of networks) {
      const { name, document, root } = network
      const node = valueOf(root, 'name')
      if (name === undefined || name === '' || !node || document.standing !== 'runtime') continue
      const other = first.get(name)
      if (!other) first.set(name, network)
      else
        yield {
          at: spotOf(document, node),
          message: `the network ${JSON.stringify(name)} is that of ${other.document.file.name}, too`,
          remedy: 'give one of the two another name, or take one file away',
        }
    }
  },
}

import { networkNameFault } from '../../../../shared/cni/identifiers.ts'
import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../lint-rule.ts'
import { spotOf, type LintedNetwork } from '../site.ts'

export const networkNameRule: LintRule = {
  id: 'network-name',
  severity: 'error',
  summary: 'A network name with characters that libcni refuses at each ADD, since it makes file names of it.',
  *check({ networks }) {
    for (const { document, root, name } of networks) {
      const node = valueOf(root, 'name')
      if (name === undefined || name === '' || !node || !networkNameFault(name)) continue
      yield {
        at: spotOf(document, node),
        message: `${JSON.stringify(name)} is not a valid network name`,
        remedy: 'begin with a letter or digit, and use letters, digits, "_", "." and "-" only',
      }
    }
  },
}

export const duplicateNetworkName: LintRule = {
  id: 'duplicate-network-name',
  severity: 'warning',
  summary:
    'Two files of one folder that name the same network. Runtimes disagree on which of them counts, and results of both go to one cache.',
  *check({ networks, input }) {
    if (!input.directory) return
    const first = new Map<string, LintedNetwork>()
    for (const network of networks) {
      const { name, document, root } = network
      const node = valueOf(root, 'name')
      if (name === undefined || name === '' || !node || document.standing !== 'runtime') continue
      const other = first.get(name)
      if (!other) first.set(name, network)
      else
        yield {
          at: spotOf(document, node),
          message: `the network ${JSON.stringify(name)} is also that of ${other.document.file.name}`,
          remedy: 'give one of the two another name, or remove one file',
        }
    }
  },
}

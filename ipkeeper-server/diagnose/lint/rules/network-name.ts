import { networkNameFault } from '../../../../shared/cni/identifiers.ts'
import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

export const networkNameRule: LintRule = {
  id: 'network-name',
  severity: 'error',
  summary:
    'A name of a network with characters that libcni refuses at each ADD, since it makes file names of it.',
  *check({ networks }) {
    for (const { document, root, name } of networks) {
      const node = valueOf(root, 'name')
      if (name === undefined || name === '' || !node || !networkNameFault(name)) continue
      yield {
        at: spotOf(document, node),
        message: `${JSON.stringify(name)} is no name of a network`,
        remedy: 'begin with a letter or digit, and use letters, digits, "_", "." and "-" only',
      }
    }
  },
}

import { memberOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

export const singleInConflist: LintRule = {
  id: 'single-in-conflist',
  severity: 'error',
  summary:
    'One plugin in a `.conflist` file, which holds a list. The runtime says "no \'plugins\' key" and stops.',
  *check({ networks }) {
    for (const { document, root, shape } of networks) {
      const type = memberOf(root, 'type')
      if (document.standing !== 'runtime' || shape !== 'single' || !type) continue
      if (!document.file.name.endsWith('.conflist')) continue
      yield {
        at: spotOf(document, type.keySpan),
        message: 'one plugin in a file of a list (.conflist)',
        remedy: 'put the plugin into "plugins": [{ ... }], beside "cniVersion" and "name"',
      }
    }
  },
}

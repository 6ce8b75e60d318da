import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'
import { usedPrograms } from '../used-programs.ts'

export const pluginNotExecutable: LintRule = {
  id: 'plugin-not-executable',
  severity: 'error',
  summary:
    'A plugin whose program is there and cannot be run: not executable, a folder, a link that leads nowhere.',
  *check(site) {
    for (const { type, holder, document } of usedPrograms(site)) {
      const node = valueOf(holder, 'type')
      const seen = site.input.plugins?.seen?.get(type)
      if (!node || seen?.kind !== 'unusable') continue
      yield {
        at: spotOf(document, node),
        message: `${seen.path} cannot be run: ${seen.why}`,
        remedy: seen.why === 'it is not executable' ? `chmod 755 ${seen.path}` : 'install the plugin anew',
      }
    }
  },
}

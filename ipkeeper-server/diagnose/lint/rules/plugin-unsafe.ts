import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'
import { usedPrograms } from '../used-programs.ts'

export const pluginUnsafe: LintRule = {
  id: 'plugin-unsafe',
  severity: 'warning',
  summary:
    'A plugin that somebody other than root can replace. Runtimes run it as root; the linter does not.',
  *check(site) {
    for (const { type, holder, document } of usedPrograms(site)) {
      const node = valueOf(holder, 'type')
      const seen = site.input.plugins?.seen?.get(type)
      if (!node || seen?.kind !== 'executable' || seen.unsafe === undefined) continue
      yield {
        at: spotOf(document, node),
        message: `${seen.path} ${seen.unsafe}, and runtimes run it as root; it was not asked for its versions`,
        remedy: `chown root:root ${seen.path} && chmod 755 ${seen.path}, after a look at what it is`,
      }
    }
  },
}

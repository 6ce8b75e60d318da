import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'
import { usedPrograms } from '../used-programs.ts'

export const pluginMissing: LintRule = {
  id: 'plugin-missing',
  severity: 'error',
  summary:
    'A plugin whose program is in none of the folders for plugins. Files load; each ADD and DEL fails.',
  *check(site) {
    const { plugins } = site.input
    if (!plugins) return
    for (const { type, holder, document } of usedPrograms(site)) {
      const node = valueOf(holder, 'type')
      if (!node || plugins.seen?.get(type)?.kind !== 'missing') continue
      yield {
        at: spotOf(document, node),
        message: `there is no program ${JSON.stringify(type)} in ${plugins.binDirs.join(', ')}`,
        remedy: 'install the plugin there, or name the folder where the runtime looks: --bin-dir DIR',
      }
    }
  },
}

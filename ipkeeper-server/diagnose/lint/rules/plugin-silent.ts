import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'
import { usedPrograms } from '../used-programs.ts'

export const pluginSilent: LintRule = {
  id: 'plugin-silent',
  severity: 'warning',
  summary:
    'A plugin that does not answer VERSION within 2 s as the specification wants it. CRI-O refuses its network.',
  *check(site) {
    for (const { type, holder, document } of usedPrograms(site)) {
      const node = valueOf(holder, 'type')
      const seen = site.input.plugins?.seen?.get(type)
      if (!node || seen?.kind !== 'executable' || seen.versions || seen.silence === '') continue
      yield {
        at: spotOf(document, node),
        message: `${seen.path} does not say which versions it supports: ${seen.silence}`,
        remedy: `see for yourself: CNI_COMMAND=VERSION ${seen.path} </dev/null`,
      }
    }
  },
}

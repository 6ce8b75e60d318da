import { valueOf } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'
import { usedPrograms } from '../used-programs.ts'

export const pluginName: LintRule = {
  id: 'plugin-name',
  severity: 'error',
  summary:
    'A `type` that is a path. Runtimes want the name of a program in one of their folders for plugins.',
  *check(site) {
    for (const { type, holder, document } of usedPrograms(site)) {
      const node = valueOf(holder, 'type')
      if (!node || !/[/\\]|^\.{0,2}$/.test(type) || type === '') continue
      yield {
        at: spotOf(document, node),
        message: `${JSON.stringify(type)} is no name of a plugin: it must be a file name`,
        remedy: `write ${JSON.stringify(type.split(/[/\\]/).at(-1) || 'bridge')}, and put the program into the folder of plugins`,
      }
    }
  },
}

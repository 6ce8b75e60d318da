import type { LintRule } from '../rule.ts'
import { runtimeChoice } from '../runtime-choice.ts'
import { topOf } from '../site.ts'

export const hiddenFile: LintRule = {
  id: 'hidden-file',
  severity: 'warning',
  summary:
    'A name that begins with a point. Runtimes read such files, before all others; `ls` does not show them.',
  *check(site) {
    for (const file of runtimeChoice(site)?.candidates ?? []) {
      if (!file.name.startsWith('.')) continue
      yield {
        at: topOf(file),
        message: `runtimes read ${file.name} although it is hidden, and before all files that are not`,
        remedy: `move it away, or give it a plain name: mv ${file.name} ${file.name.replace(/^\.+/, '')}`,
      }
    }
  },
}

import type { LintRule } from '../rule.ts'
import { topOf } from '../site.ts'

export const unreadableFile: LintRule = {
  id: 'unreadable-file',
  severity: 'error',
  summary:
    'A file that cannot be read: no permission, too large, no regular file, changed while it was read; a link out of the folder, which is a warning.',
  *check({ files }) {
    for (const file of files) {
      if (!file.fault) continue
      const { why, severity } = file.fault
      const remedy = 'put a regular, readable file there, or take it away'
      yield { at: topOf(file), message: `the file was not looked at: ${why}`, remedy, severity }
    }
  },
}

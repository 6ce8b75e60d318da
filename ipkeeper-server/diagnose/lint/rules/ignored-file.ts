import type { LintRule } from '../rule.ts'
import { isSetAside } from '../runtime-files.ts'
import { topOf } from '../site.ts'

export const ignoredFile: LintRule = {
  id: 'ignored-file',
  severity: 'note',
  summary: 'A file put aside, such as `x.conflist.bak` or `x.conflist~`. No runtime reads it.',
  *check({ files, input }) {
    if (!input.directory) return
    for (const file of files) {
      if (!isSetAside(file.name)) continue
      yield {
        at: topOf(file),
        message: 'no runtime reads a file of this name',
        remedy: 'remove it when it is no longer needed',
      }
    }
  },
}

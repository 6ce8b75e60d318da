import type { LintRule } from '../rule.ts'

export const brokenEncoding: LintRule = {
  id: 'broken-encoding',
  severity: 'warning',
  summary:
    'Bytes that are no UTF-8. Go reads each as U+FFFD, so names and paths are not what they look like.',
  *check({ files }) {
    for (const file of files) {
      const start = file.text?.indexOf('\ufffd') ?? -1
      if (start < 0) continue
      yield {
        at: { file, start, end: start + 1 },
        message: 'bytes that are no UTF-8 begin here',
        remedy: 'save the file as UTF-8',
      }
    }
  },
}

import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

export const notAnObject: LintRule = {
  id: 'not-an-object',
  severity: 'error',
  summary: 'A document that is JSON, but no object.',
  *check({ files }) {
    for (const document of files.flatMap(({ documents }) => documents)) {
      const { root } = document
      if (!root || root.kind === 'object' || root.kind === 'unknown') continue
      const what = root.kind === 'array' ? 'a list' : root.kind === 'null' ? 'null' : `a ${root.kind}`
      yield {
        at: spotOf(document, { start: root.start, end: root.start + 1 }),
        message: `the configuration is ${what}, not an object`,
        remedy:
          root.kind === 'array'
            ? 'write { "cniVersion": ..., "name": ..., "plugins": [...] }'
            : 'write { ... }',
      }
    }
  },
}

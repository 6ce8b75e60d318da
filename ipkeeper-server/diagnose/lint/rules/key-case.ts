import { keyedObjects } from '../keyed-objects.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

export const keyCase: LintRule = {
  id: 'key-case',
  severity: 'warning',
  summary:
    'A key in the wrong case. Plugins in Go do not heed it, others may; libcni itself looks the keys of a list up letter for letter, so that there it is an error.',
  *check(site) {
    for (const { document, node, keys, spelling } of keyedObjects(site)) {
      const right = new Map(keys.map(key => [key.toLowerCase(), key]))
      for (const { key, keySpan } of node.members) {
        const meant = right.get(key.toLowerCase())
        if (meant === undefined || meant === key) continue
        const exact = spelling === 'exact'
        yield {
          at: spotOf(document, keySpan),
          message: exact
            ? `${JSON.stringify(key)}: libcni knows only ${JSON.stringify(meant)}`
            : `${JSON.stringify(key)} is ${JSON.stringify(meant)} in another case, which not every program takes`,
          remedy: `write ${JSON.stringify(meant)}`,
          ...(exact && { severity: 'error' }),
        }
      }
    }
  },
}

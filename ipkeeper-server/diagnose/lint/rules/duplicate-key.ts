import { allNodes } from '../json/json-node.ts'
import type { LintRule } from '../rule.ts'
import { spotOf } from '../site.ts'

export const duplicateKey: LintRule = {
  id: 'duplicate-key',
  severity: 'warning',
  summary:
    'A key that comes twice in one object. Programs take the last; people read the first. Go does not heed case.',
  *check({ files }) {
    for (const document of files.flatMap(({ documents }) => documents)) {
      if (!document.root) continue
      for (const { members } of allNodes(document.root)) {
        const seen = new Map<string, number>()
        for (const { key, keySpan } of members) {
          const first = seen.get(key.toLowerCase())
          if (first === undefined) seen.set(key.toLowerCase(), keySpan.start)
          else {
            const { line } = document.file.lines.placeOf(document.view.inFile(first))
            const message = `the key ${JSON.stringify(key)} is there already, in line ${line}; the last one counts`
            yield { at: spotOf(document, keySpan), message, remedy: 'take one of the two out' }
          }
        }
      }
    }
  },
}

import type { LintRule } from '../rule.ts'
import { topOf } from '../site.ts'

const remedy = 'write it as JSON; in a ConfigMap as a text, after "|"'

export const conflistAsYaml: LintRule = {
  id: 'conflist-as-yaml',
  severity: 'error',
  summary:
    'A network configuration written as YAML. Runtimes read JSON only, and data of a ConfigMap are texts.',
  *check({ files }) {
    for (const file of files) {
      if (file.isRuntimeFile && file.yaml)
        yield { at: topOf(file), message: 'the file is YAML; runtimes read JSON only', remedy }
      for (const { start } of file.yaml?.plainConfigs ?? []) {
        yield {
          at: { file, start, end: start + 1 },
          message: 'a network configuration as YAML; runtimes read JSON only',
          remedy,
        }
      }
    }
  },
}

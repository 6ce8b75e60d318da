import type { LintRule } from '../rule.ts'

export const yamlSyntax: LintRule = {
  id: 'yaml-syntax',
  severity: 'error',
  summary:
    'A manifest that is no YAML, such as one indented with tabs. Positions are those of the YAML file.',
  *check({ files }) {
    for (const file of files) {
      for (const { start, end, message, remedy } of file.yaml?.faults ?? [])
        yield { at: { file, start, end }, message, remedy }
    }
  },
}

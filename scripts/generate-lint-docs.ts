/**
 * Writes docs/reference/lint-rules.generated.md from the table of lint rules.
 *
 *   node scripts/generate-lint-docs.ts
 */
import { rules } from '../ipkeeper-server/diagnose/lint/rules.ts'
import { code, table } from './markdown-table.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'

const introduction = `<!-- Made by scripts/generate-lint-docs.ts from ipkeeper-server/diagnose/lint/rules.ts; change that, then: make generate -->

# Rules of the linter

What \`ipkeeperctl lint\` and the daemon look for in network configurations, in the order of the table in
\`ipkeeper-server/diagnose/lint/rules.ts\`. How to use it is in [lint.md](../operations/lint.md). The severity is the usual one; where it
depends, the text says so. An error makes \`ipkeeperctl lint\` exit with 1; warnings and notes do not.
`

function generate(): string {
  const rows = rules.map(({ id, severity, summary }) => [code(id), severity, summary])
  return `${introduction}\n${table(['rule', 'severity', 'what it finds'], rows)}\n`
}

export const lintRuleReference: GeneratedFile = { path: 'docs/reference/lint-rules.generated.md', generate }

if (import.meta.main) await writeGenerated(lintRuleReference)

/**
 * Writes docs/reference/lint-rules.generated.md from the table of lint rules.
 *
 *   node scripts/generate-lint-docs.ts
 */
import { rules } from '../ipkeeper-server/diagnose/lint/rules.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'

const introduction = `<!-- Made by scripts/generate-lint-docs.ts from ipkeeper-server/diagnose/lint/rules.ts; change that, then: make generate -->

# Rules of the linter

What \`ipkeeperctl lint\` and the daemon look for in network configurations, in the order of the table in
\`ipkeeper-server/diagnose/lint/rules.ts\`. How to use it is in [lint.md](../operations/lint.md). The severity is the usual one; where it
depends, the text says so. An error makes \`ipkeeperctl lint\` exit with 1; warnings and notes do not.
`

const cell = (text: string): string => text.replaceAll('|', '\\|')

function generate(): string {
  const rows = rules.map(({ id, severity, summary }) => `| \`${id}\` | ${severity} | ${cell(summary)} |`)
  return `${introduction}\n${['| rule | severity | what it finds |', '|---|---|---|', ...rows].join('\n')}\n`
}

export const lintRuleReference: GeneratedFile = { path: 'docs/reference/lint-rules.generated.md', generate }

if (import.meta.main) await writeGenerated(lintRuleReference)

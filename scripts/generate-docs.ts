/**
 * Writes docs/reference/errors.generated.md from the catalogue of problems.
 *
 *   node scripts/generate-docs.ts
 */
import { catalogue, problemRow, type ProblemCode } from '../shared/problem/catalogue.ts'
import { table } from './markdown-table.ts'
import { writeGenerated, type GeneratedFile } from './write-generated.ts'

const introduction = `<!-- Made by scripts/generate-docs.ts from shared/problem/catalogue.ts; change that, then: make generate -->

# Errors

Every error of ipkeeper has a code that does not change. Where to find it:

- in the CNI error object on the plugin's stdout, which runtimes show as \`msg; details\`: at the end of \`details\`, in
  brackets, with the ID of the request when the daemon was asked (\`ipkeeper-server\` writes it on each line of its log).
  Errors marked "text by the specification" keep the texts of the reference library and carry no code of ours;
- in the body of an error reply of the daemon: \`{code, message, hint, retryable, cniCode, details, requestId, stateDir}\`;
- in what \`ipkeeperctl\` prints.

"CNI" is the code in the CNI error object: 1 to 8, 11, 50 and 51 are the specification's, 100 and up are ours. "Wait" says
whether the same request can succeed later without anybody changing it.
`

function section(code: ProblemCode): string {
  const row = problemRow(code)
  const facts = [
    `CNI ${row.cniCode}`,
    `HTTP ${row.httpStatus}`,
    row.retryable ? 'waiting can help' : 'waiting does not help',
    ...(row.fixedText ? ['text by the specification'] : []),
  ]
  return `## ${code}\n\n${facts.join(' · ')}\n\n${row.summary}\n\nWhat to do: ${row.hint}.\n`
}

function generate(): string {
  const codes = Object.keys(catalogue) as ProblemCode[]
  const rows = codes.map(code => {
    const { cniCode, retryable, summary } = problemRow(code)
    return [`[\`${code}\`](#${code.toLowerCase()})`, String(cniCode), retryable ? 'yes' : 'no', summary]
  })
  const overview = table(['code', 'CNI', 'wait', 'meaning'], rows)
  return `${introduction}\n${overview}\n\n${codes.map(section).join('\n')}`
}

export const errorReference: GeneratedFile = { path: 'docs/reference/errors.generated.md', generate }

if (import.meta.main) await writeGenerated(errorReference)

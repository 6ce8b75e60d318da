/** docs/conformance.md, made of what was tried and what came of it. Pure: the same rows and outcomes give the same text. */
import type { GoldenCase } from './golden-cases.ts'
import type { Row, Section } from './row.ts'
import type { Scenario } from './scenarios.ts'

/** Whether every case of a row held, by the row's ID; rows without cases are not in it. */
export type Outcomes = ReadonlyMap<string, boolean>

const introduction = `<!-- Made by test/spec/conformance.test.ts from the tables beside it; change those, then: make conformance -->

# Conformance

What the packaged executables were tried for, and what came of it. The rows are the requirements of a plugin by the CNI
specification, its reference library and the runtimes, under the numbers of this project's catalogue; the titles are
ours. \`make test\` runs every case; \`make conformance\` runs these alone and writes this page.

- [Requirements](#requirements)
- [Where the answer is another than the reference's](#where-the-answer-is-another-than-the-references)
- [Forty scenarios](#forty-scenarios)
- [Recorded cases of the reference plugins](#recorded-cases-of-the-reference-plugins)

"7 versions" means that the cases ran once for each of 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0 and 1.1.0; a smaller number,
that the others do not have what is tried.
`

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const line = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`
const table = (heads: readonly string[], rows: readonly string[]): string =>
  [line(...heads), `|${heads.map(() => '---').join('|')}|`, ...rows].join('\n')

const codeOf = (files: readonly string[] = []): string[] => files.map(file => `\`${file}\``)

/** Where else it is tested, or why it is not; for rows and scenarios alike. */
function pointers(covering: readonly string[], notTested: string | undefined): string[] {
  return [
    ...(covering.length > 0 ? [`covered by ${covering.join(', ')}`] : []),
    ...(notTested === undefined ? [] : [`not tested from outside: ${notTested}`]),
  ]
}

function resultOf({ id, cases = [], see = [], elsewhere, notTested }: Row, outcomes: Outcomes): string {
  const versions = new Set(cases.flatMap(one => one.versions ?? []))
  const held = outcomes.get(id)
  const verdict = held === true ? 'passes' : 'fails'
  return [
    ...(held === undefined ? [] : [versions.size > 0 ? `${verdict} (${versions.size} versions)` : verdict]),
    ...pointers([...see, ...codeOf(elsewhere)], notTested),
  ].join('; ')
}

function requirements({ title, rows }: Section, outcomes: Outcomes): string {
  const lines = rows.map(row =>
    line(row.id, row.title, (row.cases ?? []).map(one => one.title).join(' · '), resultOf(row, outcomes)),
  )
  return `### ${title}\n\n${table(['row', 'requirement', 'tests', 'result'], lines)}\n`
}

function differences(sections: readonly Section[]): string {
  const rows = sections.flatMap(section => section.rows)
  const lines = rows.flatMap(({ id, cases = [] }) =>
    cases.flatMap(({ title, differs }) => (differs === undefined ? [] : [line(id, title, differs)])),
  )
  return table(['row', 'test', 'why'], lines)
}

function stories(scenarios: readonly Scenario[]): string {
  const lines = scenarios.map(({ title, rows = [], elsewhere, notTested }, index) => {
    const told = [...rows, ...codeOf(elsewhere)].join(', ')
    return line(String(index + 1), title, told === '' ? pointers([], notTested).join('') : told)
  })
  return table(['#', 'scenario', 'told by'], lines)
}

function recorded(cases: readonly GoldenCase[]): string {
  const of = <Kind extends GoldenCase['kind']>(kind: Kind): Extract<GoldenCase, { kind: Kind }>[] =>
    cases.filter((one): one is Extract<GoldenCase, { kind: Kind }> => one.kind === kind)
  const numbers = (some: readonly GoldenCase[]): string => some.map(({ golden }) => golden.id).join(', ')
  const differing = of('differs').map(({ golden, departure }) =>
    line(String(golden.id), golden.title, departure.why),
  )
  return `\`test/spec/golden.test.ts\` runs them as they are, but for \`ipam.type\`. Exit code, error code, shape and text have to
agree; not what the JSON decoder says (the texts begin alike), and not stderr. Where the reference has its
catch-all 999, any fitting code will do. In texts the plugin's own name stands for \`host-local\`; \`details\` may begin with more
(B4).

- ${of('holds').length} of ${cases.length} hold: ${numbers(of('holds'))}.
- ${of('not ours').length} are about something else: ${numbers(of('not ours'))}. ${[...new Set(of('not ours').map(({ why }) => why))].join('. ')}.
- ${of('differs').length} differ, and this is tested:

${table(['case', 'title', 'why'], differing)}
`
}

export function renderConformance(
  sections: readonly Section[],
  outcomes: Outcomes,
  scenarios: readonly Scenario[],
  golden: readonly GoldenCase[],
): string {
  return [
    introduction,
    '## Requirements\n',
    ...sections.map(section => requirements(section, outcomes)),
    "## Where the answer is another than the reference's\n",
    'The specification wins over the reference plugins and their library, and no pod may get another address than it asked\nfor. Everything else is meant to be the same.\n',
    differences(sections),
    '\n## Forty scenarios\n',
    stories(scenarios),
    '\n## Recorded cases of the reference plugins\n',
    recorded(golden),
  ].join('\n')
}

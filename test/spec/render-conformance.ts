/** docs/reference/conformance.md, made of what was tried and what came of it. Pure: the same rows and outcomes give the same text. */
import { supportedVersions } from '../../shared/cni/versions.ts'
import type { GoldenCase } from './golden-cases.ts'
import type { Row, Section } from './row.ts'
import type { Scenario } from './scenarios.ts'

/** Whether every case of a row held, by the row's ID; rows without cases are not in it. */
export type Outcomes = ReadonlyMap<string, boolean>

/** What the page is made of. */
export interface Findings {
  /** Of ipkeeper. */
  readonly version: string
  /** Versions of the reference plugins whose runs were recorded. */
  readonly recordedFrom: string
  readonly sections: readonly Section[]
  readonly outcomes: Outcomes
  readonly scenarios: readonly Scenario[]
  readonly golden: readonly GoldenCase[]
}

const introduction = ({
  version,
  recordedFrom,
  sections,
  outcomes,
}: Findings): string => `<!-- Made by test/spec/conformance.test.ts from the tables beside it; change those, then: make conformance -->

# Conformance

What the packaged executables of ipkeeper ${version} were tried for, and what came of it. \`make test\` runs every case;
\`make conformance\` runs these alone and writes this page.

The rows are a catalogue of what is expected of a plugin by the CNI specification, by its reference library and by the
runtimes. Its numbers are this project's own way of grouping these requirements; no other document has them. The sections
on errors and on Node have rows that bear the section's letter (F, F codes, K). Recorded cases and texts are those of
${recordedFrom}.

${total(sections, outcomes)}

- [Requirements](#requirements)
- [Where the answer is another than the reference's](#where-the-answer-is-another-than-the-references)
- [Forty scenarios](#forty-scenarios)
- [Recorded cases of the reference plugins](#recorded-cases-of-the-reference-plugins)

In the column "result", "passes" means that every case named in the row held. In brackets are the versions of the
configuration that its cases were repeated for: each of ${supportedVersions.join(', ')}, or those
alone that have what is tried (CHECK exists from 0.4.0 on). Without brackets a case ran once, with 1.0.0 unless it says
otherwise. "Covered by" names other rows whose cases show this one as well, or files of tests.
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

/** What becomes of a row: the best that can be said of it. */
function kindOf(
  { id, see, elsewhere }: Row,
  outcomes: Outcomes,
): 'passed' | 'failed' | 'covered' | 'not tested' {
  const held = outcomes.get(id)
  if (held !== undefined) return held ? 'passed' : 'failed'
  return (see ?? elsewhere) ? 'covered' : 'not tested'
}

function total(sections: readonly Section[], outcomes: Outcomes): string {
  const kinds = sections.flatMap(({ rows }) => rows.map(row => kindOf(row, outcomes)))
  const count = (kind: string): number => kinds.filter(one => one === kind).length
  return `**Of ${kinds.length} rows ${count('passed')} pass and ${count('failed')} fail; ${count('covered')} have no cases of their own and are covered by other rows or tests;
${count('not tested')} are not tested from outside, for the reason given there.**`
}

const describeVersions = (versions: ReadonlySet<string>): string =>
  versions.size === supportedVersions.length ? 'each version' : [...versions].join(', ')

function resultOf({ id, cases = [], see = [], elsewhere, notTested }: Row, outcomes: Outcomes): string {
  const versions = new Set(cases.flatMap(one => one.versions ?? []))
  const held = outcomes.get(id)
  const verdict = held === true ? 'passes' : 'fails'
  return [
    ...(held === undefined
      ? []
      : [versions.size > 0 ? `${verdict} (${describeVersions(versions)})` : verdict]),
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

/** Some titles hold a name of 300 characters. */
const shorten = (title: string): string => (title.length > 60 ? `${title.slice(0, 57)}...` : title)

function recorded(cases: readonly GoldenCase[], recordedFrom: string): string {
  const of = <Kind extends GoldenCase['kind']>(kind: Kind): Extract<GoldenCase, { kind: Kind }>[] =>
    cases.filter((one): one is Extract<GoldenCase, { kind: Kind }> => one.kind === kind)
  const list = (some: readonly GoldenCase[]): string =>
    table(
      ['case', 'of', 'title'],
      some.map(({ golden }) => line(String(golden.id), golden.reference, shorten(golden.title))),
    )
  const differing = of('differs').map(({ golden, departure }) =>
    line(String(golden.id), golden.reference, golden.title, departure.why),
  )
  return `What \`host-local\` and \`static\` of ${recordedFrom} did: a case
is one run with its environment and stdin, under the number and title of \`test/fixtures/conformance/golden.json\`.
\`test/spec/golden.test.ts\` runs them as they are, but for \`ipam.type\`. Exit code, error code, shape and text have to
agree; not what the JSON decoder says (the texts begin alike), and not stderr. Where the reference has its
catch-all 999, any fitting code will do. In texts the plugin's own name stands for \`host-local\`; \`details\` may begin with more
(B4).

Of ${cases.length} cases ${of('differs').length} differ, and this is tested:

${table(['case', 'of', 'title', 'why'], differing)}

${of('not ours').length} are not run, since they are about something else. ${[...new Set(of('not ours').map(({ why }) => why))].join('. ')}.

${list(of('not ours'))}

${of('holds').length} hold:

${list(of('holds'))}
`
}

export function renderConformance(findings: Findings): string {
  const { sections, outcomes, scenarios, golden, recordedFrom } = findings
  return [
    introduction(findings),
    '## Requirements\n',
    ...sections.map(section => requirements(section, outcomes)),
    "## Where the answer is another than the reference's\n",
    'The specification wins over the reference plugins and their library, and no pod may get another address than it asked\nfor. Everything else is meant to be the same.\n',
    differences(sections),
    '\n## Forty scenarios\n',
    `The stories that the catalogue wants told first: each is one call of a plugin, or a few in a row, and what has to come of
it. They come from the tests of the reference library, its plugins and the runtimes. "Told by" names the rows above
whose cases play the story, or the file of tests that does.
`,
    stories(scenarios),
    '\n## Recorded cases of the reference plugins\n',
    recorded(golden, recordedFrom),
  ].join('\n')
}

/**
 * The catalogue of what runtimes expect of a plugin, tried on the packaged plugin with a packaged daemon. What comes of
 * it is docs/reference/conformance.md; with WRITE_CONFORMANCE=1 (make conformance) that page is written instead of compared.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { missing } from '../rigs/requirements.ts'
import { goldenCases, recordedFrom } from './golden-cases.ts'
import { renderConformance } from './render-conformance.ts'
import { startRig, type Rig } from './rig.ts'
import type { Case, Row } from './row.ts'
import { scenarios } from './scenarios.ts'
import { sections } from './sections.ts'

const root = join(import.meta.dirname, '..', '..')
const page = join(root, 'docs', 'reference', 'conformance.md')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const skip = missing('executables')
const cannotWire = missing('namespaces')
const rows = sections.flatMap(section => section.rows)

/** The rows of the catalogue: sections and how many each has; those of errors are named. */
const catalogue: readonly string[] = [
  ...numbered('A', 15),
  ...numbered('B', 9),
  ...numbered('C', 10),
  ...numbered('D', 7),
  ...numbered('E', 10),
  ...['F', 'F codes', 'F1'],
  ...numbered('G', 16),
  ...numbered('H', 9),
  ...numbered('I', 8),
  ...numbered('J', 8),
  'K',
]

function numbered(section: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${section}${index + 1}`)
}

t.test('the tables hold together', t => {
  t.strictSame(
    rows.map(row => row.id),
    catalogue,
    'every row, once',
  )
  for (const { id, cases, see, elsewhere, notTested } of rows) {
    t.ok(cases ?? see ?? elsewhere ?? notTested, `${id} is tested, or says why not`)
  }
  t.equal(scenarios.length, 40)
  t.match(recordedFrom, /containernetworking\/plugins v\d/, 'the recording names its versions')
  const withCases = new Set(rows.filter(row => row.cases).map(row => row.id))
  for (const { id, see = [] } of rows) {
    for (const other of see) t.ok(withCases.has(other), `${id}: ${other} has cases`)
  }
  for (const { title, rows: told = [] } of scenarios) {
    for (const id of told) t.ok(withCases.has(id), `${title}: ${id} has cases`)
  }
  for (const file of [...rows, ...scenarios].flatMap(({ elsewhere = [] }) => elsewhere))
    t.ok(existsSync(join(root, file)), file)
  t.end()
})

/** Runs a case with a daemon of its own, or with that of all cases that change nothing. */
async function tryCase(t: Test, one: Case, shared: Rig): Promise<void> {
  for (const version of one.versions ?? ['1.0.0' as const]) {
    const title = one.versions ? `${one.title} (${version})` : one.title
    await t.test(title, { skip: one.wiresPods ? cannotWire : false }, async t => {
      if (one.changesNothing) {
        await one.run(t, shared, version)
        return
      }
      const rig = await startRig({ wiresPods: one.wiresPods === true })
      t.teardown(() => rig.stop())
      await one.run(t, rig, version)
    })
  }
}

t.test('the rows', { skip, jobs: 2 }, async t => {
  const shared = await startRig()
  t.teardown(() => shared.stop())
  const outcomes = new Map<string, boolean>()
  const tryRow = async ({ id, title, cases = [] }: Row): Promise<void> => {
    await t.test(`${id} ${title}`, { buffered: true }, async t => {
      for (const one of cases) await tryCase(t, one, shared)
      outcomes.set(id, t.passing())
    })
  }
  await Promise.all(rows.filter(row => row.cases).map(tryRow))

  t.strictSame(await shared.bound(), [], 'what was refused has left nothing')
  const text = renderConformance({
    version: manifest.version,
    recordedFrom,
    sections,
    outcomes,
    scenarios,
    golden: goldenCases,
  })
  if (process.env['WRITE_CONFORMANCE'] === '1') {
    t.equal(cannotWire, false, 'the page is written where everything could be tried')
    writeFileSync(page, text)
  }
  t.equal(
    existsSync(page) ? readFileSync(page, 'utf8') : '',
    text,
    'docs/reference/conformance.md is as it was found (make conformance)',
  )
})

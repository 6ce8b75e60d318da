/**
 * Runs tap over the test files and says what came of it: one line for each file as it ends, with its failures in full;
 * at the end all failures once more, so that the last screen of a log is enough to know what broke, one line for each
 * reason that tests were skipped, and `N passed, N failed` alone on the last line.
 *
 *   node scripts/run-tests.ts [FILE or FOLDER ...]     all files that .taprc includes, or only these
 *   node scripts/run-tests.ts --raise-floors           the unit tests, and then scripts/coverage-floors.json
 *
 * Exit 1 when a test failed, when none ran, and with CI=true also when one was skipped that set-up could have
 * enabled: a green run must not hide a missing install step. With --raise-floors it says what the unit tests cover, too,
 * and fails where that is less than the floor of a folder.
 */
import { transformSync } from 'esbuild'
import { spawn } from 'node:child_process'
import { globSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { FinalResults } from 'tap-parser'
import { optionalSkip } from '../test/rigs/requirements.ts'
import { unitFolders } from './coverage-map.ts'
import { byFolder, complaints, raised, readFloors, table, writeFloors, type Coverage } from './coverage.ts'
import { cutOff, tallyFiles, type FailedTest, type SkippedTest } from './tap-totals.ts'

const root = join(import.meta.dirname, '..')
const tapBinary = join(root, 'node_modules', '.bin', 'tap')
const strict = process.env['CI'] === 'true'

let passed = 0
const failed: FailedTest[] = []
const skipped: SkippedTest[] = []

const indent = (text: string): string => text.replace(/^(?=.)/gm, '    ')

const tell = (failures: readonly FailedTest[]): void => {
  for (const { name, details } of failures) console.log(`  not ok: ${name}\n${indent(details)}`)
}

const parser = tallyFiles(tally => {
  passed += tally.passed
  failed.push(...tally.failed)
  skipped.push(...tally.skipped)
  const verdict = tally.failed.length > 0 ? 'FAIL' : tally.passed === 0 ? 'SKIP' : 'ok  '
  const counts = [
    `${tally.passed} passed`,
    ...(tally.failed.length > 0 ? [`${tally.failed.length} failed`] : []),
    ...(tally.skipped.length > 0 ? [`${tally.skipped.length} skipped`] : []),
  ]
  console.log(`${verdict} ${tally.file}  ${counts.join(', ')}  ${(tally.milliseconds / 1e3).toFixed(1)} s`)
  tell(tally.failed)
})

/** Measuring costs a fifth of the time, and some of the unit tests alone say nothing of a whole folder. */
const raiseFloors = process.argv.includes('--raise-floors')
const paths = raiseFloors ? unitFolders : process.argv.slice(2)
const files = paths.flatMap(path =>
  statSync(path).isDirectory() ? globSync(join(path, '**', '*.test.ts')) : [path],
)
const summary = join(root, '.tap', 'report', 'coverage-summary.json')
rmSync(summary, { force: true })

const tap = spawn(
  process.execPath,
  [tapBinary, '--reporter=tap', ...(raiseFloors ? [] : ['--disable-coverage']), ...files],
  { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
)
// The tests clean up on a signal; this process stays until they have.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => tap.kill(signal))

const parsed = new Promise<FinalResults>(resolve => parser.on('complete', resolve))
tap.stdout.on('data', (chunk: Buffer) => parser.write(chunk))
const code = await new Promise<number | null>((resolve, reject) => {
  tap.on('error', reject)
  tap.on('close', resolve)
})
parser.end()
const ending = code === null ? 'was ended by a signal' : `ended with exit code ${code}`
if (cutOff(await parsed))
  failed.push({ name: `the run is not whole: tap ${ending} before its last file`, details: '' })
else if (code !== 0 && failed.length === 0)
  failed.push({ name: `tap ${ending} although no test failed`, details: '' })

/** What the unit tests ran, by folder. */
function measuredFolders(): ReadonlyMap<string, Coverage> {
  const measured = JSON.parse(readFileSync(summary, 'utf8')) as Record<string, Coverage>
  return byFolder(
    new Map(Object.entries(measured).map(([path, coverage]) => [relative(root, path), coverage])),
    globSync('{ipkeeper-server,plugin,shared}/**/*.ts', { cwd: root }),
    source => readFileSync(join(root, source), 'utf8'),
    text => transformSync(text, { loader: 'ts' }).code !== '',
  )
}

const isUnitTest = ({ name }: SkippedTest): boolean =>
  unitFolders.some(folder => name.startsWith(`${folder}/`))

if (raiseFloors && failed.length === 0) {
  const folders = measuredFolders()
  console.log(`\n${table(folders)}`)
  writeFloors(raised(folders, readFloors()))
  // What a machine cannot run is no loss of tests.
  if (skipped.some(isUnitTest)) console.log('not held against the floors, since unit tests were skipped')
  else failed.push(...complaints(folders, readFloors()).map(name => ({ name, details: '' })))
}

if (failed.length > 0) {
  console.log('\nWhat failed:')
  tell(failed)
}

const byReason = Map.groupBy(skipped, test => test.reason)
for (const [reason, tests] of byReason) {
  const names = tests.map(test => test.name)
  const shown = names.length > 3 ? [...names.slice(0, 3), `${names.length - 3} more`] : names
  console.log(`SKIP: ${reason} (${shown.join('; ')})`)
}
const forbidden = strict ? skipped.filter(test => !test.reason.startsWith(optionalSkip)) : []
if (forbidden.length > 0) {
  console.log(
    `with CI=true these must run, so each counts as failed: ${forbidden.map(test => test.name).join('; ')}`,
  )
}
const failures = failed.length + forbidden.length
const leftOut = skipped.length - forbidden.length
if (passed + failures === 0) console.log('no test ran')
process.exitCode = failures > 0 || passed === 0 ? 1 : 0
console.log(`${passed} passed, ${failures} failed${leftOut > 0 ? `, ${leftOut} skipped` : ''}`)

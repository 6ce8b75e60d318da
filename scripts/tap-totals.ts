import { Parser, type FinalResults, type Result } from 'tap-parser'

/** A test that did not run, and what it said. */
export interface SkippedTest {
  readonly name: string
  readonly reason: string
}

/** A test that failed, with the diagnostics TAP gave. */
export interface FailedTest {
  readonly name: string
  readonly details: string
}

/**
 * What one subtest came to. A *test* is an innermost subtest (`t.test` without another inside); the assertions that
 * a file makes outside any count as one.
 */
export interface Tally {
  readonly passed: number
  readonly skipped: readonly SkippedTest[]
  readonly failed: readonly FailedTest[]
}

export interface FileTally extends Tally {
  readonly file: string
  readonly milliseconds: number
}

/** Collects what happens inside one parser (a subtest, or the whole stream) until it is complete. */
class Scope {
  passed = 0
  readonly skipped: SkippedTest[] = []
  readonly failed: FailedTest[] = []
  /** Assertions of this scope's own: points that close no subtest. */
  ownPassed = 0
  ownFailed: FailedTest[] = []
  subtests = 0
  /** What the test said beside its assertions: seeds, counts, what it had seen when it failed. */
  readonly comments: string[] = []

  add(tally: Tally): void {
    this.passed += tally.passed
    this.skipped.push(...tally.skipped)
    this.failed.push(...tally.failed)
  }
}

/** Diagnostics as a person reads them: the location and the difference, not the whole of TAP's record. */
function describe(result: Result): string {
  const diagnostics = result.diag as Record<string, unknown> | null
  if (diagnostics === null) return ''
  const shown = ['diff', 'stack', 'error', 'found', 'wanted', 'exitCode', 'signal', 'timeout']
  return shown
    .filter(key => diagnostics[key] !== undefined && diagnostics[key] !== null)
    .filter(key => !(key === 'found' || key === 'wanted') || diagnostics['diff'] === undefined)
    .map(key => {
      const value = diagnostics[key]
      return `${key}: ${typeof value === 'string' ? value.trimEnd() : JSON.stringify(value)}`
    })
    .join('\n')
}

/** So many comments of a failed test are shown, from its first one on: a seed comes first. */
const mostComments = 40
const longestComment = 500

const shownOf = (comments: readonly string[]): readonly string[] => [
  ...comments.slice(0, mostComments).map(text => text.trimEnd().slice(0, longestComment)),
  ...(comments.length > mostComments ? [`# and ${comments.length - mostComments} more comments`] : []),
]

/** Sums a subtest up once its closing test point is known. */
function close(scope: Scope, point: Result, path: string): Tally {
  if (point.skip !== false) {
    return { passed: 0, skipped: [{ name: path, reason: reasonOf(point.skip) }], failed: [] }
  }
  if (scope.subtests === 0) {
    if (!point.ok && point.todo === false) {
      // What a closing point says repeats what its assertions said.
      const own = scope.ownFailed.map(({ name, details }) => `${name}\n${details}`)
      const details = [...(own.length > 0 ? own : [describe(point)]), ...shownOf(scope.comments)]
      return { passed: 0, skipped: [], failed: [{ name: path, details: details.join('\n') }] }
    }
    const allSkipped = scope.ownPassed === 0 && scope.skipped.length > 0
    return { passed: allSkipped ? 0 : 1, skipped: scope.skipped, failed: [] }
  }
  const failed = [...scope.failed, ...scope.ownFailed]
  // A file may fail although all its tests passed: it crashed after them, ran out of time, or missed its plan.
  if (!point.ok && point.todo === false && failed.length === 0)
    failed.push({ name: path, details: describe(point) })
  const own = scope.ownPassed > 0 && scope.ownFailed.length === 0 ? 1 : 0
  return { passed: scope.passed + own, skipped: scope.skipped, failed }
}

function reasonOf(skip: string | boolean): string {
  return typeof skip === 'string' && skip !== '' ? skip : 'no reason given'
}

/**
 * Reads the TAP stream of a whole run, where each test file is a subtest of the top level.
 *
 * @param onFile called as each file is complete, in the order of the stream
 * @returns a writable parser; it emits `complete` with TAP's own results
 */
export function tallyFiles(onFile: (tally: FileTally) => void): Parser {
  const parser = new Parser()
  const files = new Scope()
  watch(parser, files, '', (tally, point) => {
    onFile({ ...tally, file: point.name, milliseconds: point.time ?? 0 })
  })
  parser.on('complete', (results: FinalResults) => {
    // A stream cut off in the middle of a file has no closing point for it.
    if (results.bailout !== false) {
      const details = typeof results.bailout === 'string' ? results.bailout : ''
      onFile({
        file: 'bail out',
        milliseconds: 0,
        passed: 0,
        skipped: [],
        failed: [{ name: 'bail out', details }],
      })
    }
  })
  return parser
}

/**
 * Whether files are missing from the totals: the stream ended before TAP's plan, which tap prints last or, for a single
 * file, first, or with fewer files than that says. The parser gives an empty stream a plan of its own that skips all.
 */
export const cutOff = ({ bailout, count, plan }: FinalResults): boolean =>
  bailout === false && (plan.end === null || plan.skipAll || count < plan.end)

function watch(
  parser: Parser,
  scope: Scope,
  path: string,
  onSubtest: (tally: Tally, point: Result) => void,
): void {
  let pending: Scope | undefined
  let pendingPath = ''
  parser.on('child', (child: Parser) => {
    const inner = new Scope()
    const innerPath = path === '' ? child.name : `${path} > ${child.name}`
    pending = inner
    pendingPath = innerPath
    watch(child, inner, innerPath, tally => {
      inner.add(tally)
    })
  })
  parser.on('comment', (text: string) => {
    // Subtest: NAME is TAP's own.
    if (path !== '' && !/^# (Subtest|time=|\{ total)/.test(text)) scope.comments.push(text)
  })
  parser.on('assert', (point: Result) => {
    const closed = pending
    pending = undefined
    const name = path === '' ? point.name : `${path} > ${point.name}`
    if (closed !== undefined || path === '') {
      scope.subtests++
      onSubtest(close(closed ?? new Scope(), point, closed === undefined ? name : pendingPath), point)
      return
    }
    if (point.skip !== false) scope.skipped.push({ name, reason: reasonOf(point.skip) })
    else if (point.ok || point.todo !== false) scope.ownPassed++
    else scope.ownFailed.push({ name, details: describe(point) })
  })
}

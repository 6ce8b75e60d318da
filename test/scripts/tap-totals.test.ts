import t from 'tap'
import type { FinalResults } from 'tap-parser'
import { cutOff, tallyFiles, type FileTally } from '../../scripts/tap-totals.ts'

/** Tallies a stream given as lines; the version line is added. */
function tally(...lines: readonly string[]): readonly FileTally[] {
  const files: FileTally[] = []
  const parser = tallyFiles(file => files.push(file))
  parser.end(['TAP version 14', ...lines, ''].join('\n'))
  return files
}

const names = (tests: readonly { readonly name: string }[]): readonly string[] => tests.map(test => test.name)

t.test('innermost subtests count, not assertions', t => {
  const [file] = tally(
    '# Subtest: a.test.ts',
    '    # Subtest: outer',
    '        # Subtest: one',
    '            ok 1 - x',
    '            ok 2 - y',
    '            1..2',
    '        ok 1 - one',
    '        # Subtest: two',
    '            ok 1 - x',
    '            1..1',
    '        ok 2 - two',
    '        1..2',
    '    ok 1 - outer',
    '    1..1',
    'ok 1 - a.test.ts # time=12.5ms',
    '1..1',
  )
  t.match(file, { file: 'a.test.ts', passed: 2, failed: [], skipped: [], milliseconds: 12.5 })
  t.end()
})

t.test('assertions outside any subtest count as one test', t => {
  const [file] = tally(
    '# Subtest: a.test.ts',
    '    ok 1 - x',
    '    ok 2 - y',
    '    1..2',
    'ok 1 - a.test.ts',
    '1..1',
  )
  t.match(file, { passed: 1, failed: [] })
  t.end()
})

t.test('a failed assertion fails its test alone', t => {
  const [file] = tally(
    '# Subtest: a.test.ts',
    '    # Subtest: good',
    '        ok 1 - x',
    '        1..1',
    '    ok 1 - good',
    '    # Subtest: bad',
    '        ok 1 - x',
    '        not ok 2 - should be equal',
    '        1..2',
    '    not ok 2 - bad',
    '    1..2',
    'not ok 1 - a.test.ts',
    '1..1',
  )
  t.equal(file?.passed, 1)
  t.same(names(file?.failed ?? []), ['a.test.ts > bad'])
  t.match(file?.failed[0]?.details, /should be equal/)
  t.end()
})

t.test('a failed test is told with its comments, which have its seed', t => {
  const [file] = tally(
    '# Subtest: a.test.ts',
    '    # Subtest: good',
    '        # SEED=1',
    '        ok 1 - x',
    '        1..1',
    '    ok 1 - good',
    '    # Subtest: bad',
    '        # SEED=2',
    '        not ok 1 - should be equal',
    ...Array.from({ length: 60 }, (_, index) => `        # line ${index}`),
    '        1..1',
    '    not ok 2 - bad # time=3ms',
    '    1..2',
    'not ok 1 - a.test.ts',
    '1..1',
  )
  const details = file?.failed[0]?.details.split('\n') ?? []
  t.match(details[0], /should be equal/)
  t.ok(details.includes('# SEED=2'), 'its own')
  t.notOk(details.includes('# SEED=1'), 'not those of others')
  t.equal(details.at(-1), '# and 21 more comments')
  t.end()
})

t.test('a file that crashes after its tests is a failure', t => {
  const [file] = tally(
    '# Subtest: a.test.ts',
    '    # Subtest: good',
    '        ok 1 - x',
    '        1..1',
    '    ok 1 - good',
    '    1..1',
    'not ok 1 - a.test.ts',
    '  ---',
    '  exitCode: 3',
    '  ...',
    '1..1',
  )
  t.equal(file?.passed, 1)
  t.match(file?.failed, [{ name: 'a.test.ts', details: /exitCode: 3/ }])
  t.end()
})

t.test('a file without a test is a failure', t => {
  const [file] = tally('# Subtest: a.test.ts', '    1..0 # no tests found', 'not ok 1 - a.test.ts', '1..1')
  t.same(names(file?.failed ?? []), ['a.test.ts'])
  t.equal(file?.passed, 0)
  t.end()
})

t.test('skipped tests are told with their reason', t => {
  const [file] = tally(
    '# Subtest: a.test.ts',
    '    ok 1 - needs much # SKIP needs root',
    '    # Subtest: inside',
    '        ok 1 - later # SKIP needs root',
    '        1..1',
    '    ok 2 - inside',
    '    1..2',
    'ok 1 - a.test.ts',
    '1..1',
  )
  t.equal(file?.passed, 0)
  t.match(file?.skipped, [{ reason: 'needs root' }, { reason: 'needs root' }])
  t.end()
})

t.test('a stream that ends before its plan is told from a whole one', async t => {
  const file = ['# Subtest: a.test.ts', '    ok 1 - x', '    1..1', 'ok 1 - a.test.ts']
  for (const [name, lines, isCut] of [
    ['whole', [...file, '1..1'], false],
    ['whole, with a failure', [...file, 'not ok 2 - b.test.ts', '1..2'], false],
    ['after a file', file, true],
    ['after a failed file', [...file, 'not ok 2 - b.test.ts'], true],
    ['within a file', file.slice(0, 2), true],
    ['before the first', [], true],
    ['within a file, after its plan', ['1..1', ...file.slice(0, 2)], true],
    ['whole, with its plan first', ['1..1', ...file], false],
    ['a bail-out, which says so itself', [...file, 'Bail out! no disk'], false],
  ] as const) {
    const parser = tallyFiles(() => undefined)
    const results = new Promise<FinalResults>(resolve => parser.on('complete', resolve))
    parser.end(['TAP version 14', ...lines, ''].join('\n'))
    t.equal(cutOff(await results), isCut, name)
  }
})

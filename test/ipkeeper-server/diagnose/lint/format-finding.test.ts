import t from 'tap'
import { compilerText, githubCommand } from '../../../../ipkeeper-server/diagnose/lint/format-finding.ts'
import type { LintFinding } from '../../../../shared/api/lint.schema.ts'

const finding: LintFinding = {
  ...{ file: '/net.d/a.conflist', line: 12, column: 3, endLine: 12, endColumn: 6 },
  ...{ severity: 'warning', rule: 'some-rule', message: 'something', remedy: 'do this', fix: null },
}

t.test('as compilers do', t => {
  const rows: readonly (readonly [what: string, Partial<LintFinding>, line: string, ...excerpt: string[]])[] =
    [
      ['a caret below each character', {}, '  abc', ' 12 |   abc', '    |   ^^^'],
      ['tabs stay tabs', {}, '\t\tabc', ' 12 | \t\tabc', '    | \t\t^^^'],
      ['a place has a caret', { endColumn: 3 }, '  abc', ' 12 |   abc', '    |   ^'],
      ['to the end of the line', { endLine: 14, endColumn: 1 }, '  abc', ' 12 |   abc', '    |   ^^^'],
      ['characters of two units', {}, '\u{1f600}\u{1f600}abc', ' 12 | \u{1f600}\u{1f600}abc', '    |   ^^^'],
      ['nothing for a terminal to obey', {}, '\u001b\u202eabc', ' 12 | ??abc', '    |   ^^^'],
      ['no empty line', {}, ''],
      [
        'a part of a long line',
        { column: 501, endColumn: 502 },
        'x'.repeat(1000),
        ` 12 | ... ${'x'.repeat(160)} ...`,
        `    | ${' '.repeat(64)}^`,
      ],
    ]
  for (const [what, change, line, ...excerpt] of rows) {
    const lines = compilerText({ ...finding, ...change }, line).split('\n')
    t.strictSame(lines.slice(1), [...excerpt, ' = do this', ''], what)
  }
  t.match(compilerText(finding, 'x'), /^\/net\.d\/a\.conflist:12:3: warning: something \[some-rule\]\n/)
  t.end()
})

t.test('for GitHub, whose separators are escaped', t => {
  t.equal(
    githubCommand({ ...finding, file: 'a,b:c%.conflist', message: 'a: b, 100%\nc', severity: 'note' }),
    '::notice file=a%2Cb%3Ac%25.conflist,line=12,col=3,endLine=12,endColumn=6,title=some-rule::a: b, 100%25%0Ac; do this',
  )
  t.match(githubCommand(finding), /^::warning /)
  t.match(githubCommand({ ...finding, severity: 'error' }), /^::error /)
  t.end()
})

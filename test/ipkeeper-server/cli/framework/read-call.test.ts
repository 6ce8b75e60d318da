import t from 'tap'
import { readWords } from '../../../../ipkeeper-server/cli/framework/read-call.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const known = {
  ...{ valued: ['limit', 'output', 'folder'], joined: ['folder'], flags: ['failed'] },
  letters: { o: 'output', f: 'failed' },
}

t.test('read', t => {
  for (const [line, values, flags, positionals] of [
    ['', {}, [], []],
    ['a b', {}, [], ['a', 'b']],
    ['--limit 5 a', { limit: '5' }, [], ['a']],
    ['--limit=5 a --failed', { limit: '5' }, ['failed'], ['a']],
    ['-o json -f', { output: 'json' }, ['failed'], []],
    ['-o=json -f', { output: 'json' }, ['failed'], []],
    ['--output==', { output: '=' }, [], []],
    ['-fojson', { output: 'json' }, ['failed'], []],
    ['-f -f', {}, ['failed'], []],
    ['--folder a --folder b:c', { folder: 'a:b:c' }, [], []],
    ['--limit -1', { limit: '-1' }, [], []],
    ['--limit=--failed', { limit: '--failed' }, [], []],
    ['--output -', { output: '-' }, [], []],
    ['--limit=', { limit: '' }, [], []],
    ['-- --limit', {}, [], ['--limit']],
  ] as const) {
    const words = readWords(line === '' ? [] : line.split(' '), known)
    t.strictSame(
      { ...words, flags: [...words.flags] },
      { values: { ...values }, flags: [...flags], positionals: [...positionals] },
      line,
    )
  }
  t.end()
})

t.test('called wrongly', async t => {
  for (const [line, message] of [
    ['--limt 5', 'unknown option --limt; did you mean --limit?'],
    ['--frobnicate', 'unknown option --frobnicate'],
    ['-x', 'unknown option -x'],
    ['--toString', 'unknown option --toString'],
    ['--no-failed', 'unknown option --no-failed'],
    ['--limit', '--limit needs a value'],
    ['-o', '-o needs a value'],
    ['--limit --failed', '--limit needs a value'],
    ['-o -f', '-o needs a value'],
    ['--failed=yes', '--failed takes no value'],
    ['--limit 1 --limit 2', '--limit is given twice: "1" and "2"'],
    ['--limit 1 --limit=1', '--limit is given twice: "1" and "1"'],
    ['--output json -o yaml', '-o is given twice: "json" and "yaml"'],
  ] as const)
    t.match(
      await thrownProblem(() => readWords(line.split(' '), known)),
      { code: 'IPK_USAGE', message },
      line,
    )
})

import t from 'tap'
import { byFolder, complaints, raised, table, type Coverage } from '../../scripts/coverage.ts'

const coverage = (lines: string, branches: string): Coverage => {
  const share = (text: string) => {
    const [covered, total] = text.split('/').map(Number)
    return { covered: covered!, total: total! }
  }
  return { lines: share(lines), branches: share(branches) }
}

const folder = (lines: string, branches: string) => new Map([['shared/net', coverage(lines, branches)]])

t.test('files are summed up by folder', t => {
  const sources = ['shared/net/b.ts', 'shared/net/a.ts', 'shared/a.ts']
  const measured = new Map([
    ['shared/net/a.ts', coverage('10/10', '3/4')],
    ['shared/net/b.ts', coverage('20/30', '1/4')],
    ['shared/a.ts', coverage('5/5', '1/1')],
    ['test/rigs/site.ts', coverage('5/9', '1/2')],
  ])
  const folders = byFolder(
    measured,
    sources,
    source => {
      throw new Error(`${source} was measured`)
    },
    () => true,
  )
  t.strictSame(
    [...folders],
    [
      ['shared', coverage('5/5', '1/1')],
      ['shared/net', coverage('30/40', '4/8')],
    ],
  )
  t.end()
})

t.test('what no test loads', t => {
  const cases: readonly (readonly [string, string, string, readonly (readonly [string, Coverage])[]])[] = [
    ['code counts as not run', 'shared/a.ts', 'one\ntwo\n', [['shared', coverage('0/2', '0/1')]]],
    ['types alone are no code', 'shared/a.ts', '', []],
    ['what is generated is not ours to cover', 'plugin/validators.generated.ts', 'one\n', []],
    ['what runs in a browser is not measured here', 'ipkeeper-server/http/page/client/main.ts', 'one\n', []],
  ]
  for (const [name, source, text, expected] of cases) {
    const folders = byFolder(
      new Map(),
      [source],
      () => text,
      text => text !== '',
    )
    t.strictSame([...folders], expected, name)
  }
  t.end()
})

t.test('a floor', t => {
  const cases: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['is kept to', '90/100', '8/10', []],
    ['by more', '100/100', '10/10', []],
    [
      'is missed by lines',
      '899/1000',
      '8/10',
      ['unit tests run 899 of 1000 lines of shared/net, which is less than 90 %'],
    ],
    [
      'is missed by branches',
      '90/100',
      '79/100',
      ['unit tests run 79 of 100 branches of shared/net, which is less than 80 %'],
    ],
  ]
  for (const [name, lines, branches, expected] of cases)
    t.strictSame(
      complaints(folder(lines, branches), { 'shared/net': { lines: 90, branches: 80 } }),
      expected,
      name,
    )
  t.strictSame(
    complaints(folder('1/1', '1/1'), { 'shared/text': { lines: 1, branches: 1 } }),
    [
      'shared/net has no floor of coverage yet: make coverage',
      'there is a floor of coverage for shared/text, and no such folder: make coverage',
    ],
    'each folder has one, and each one a folder',
  )
  t.end()
})

t.test('raising floors', t => {
  const cases: readonly (readonly [string, string, number | undefined, number])[] = [
    ['a first one leaves room for timing', '957/1000', undefined, 94],
    ['it rises', '957/1000', 90, 94],
    ['it never falls', '800/1000', 90, 90],
    ['all of it stays all of it', '1000/1000', 90, 100],
    ['almost all leaves room', '9999/10000', 90, 98],
    ['nothing is not below zero', '0/10', undefined, 0],
  ]
  for (const [name, measured, before, after] of cases)
    t.strictSame(
      raised(
        folder(measured, '1/1'),
        before === undefined ? {} : { 'shared/net': { lines: before, branches: 0 } },
      ),
      { 'shared/net': { lines: after, branches: 100 } },
      name,
    )
  t.strictSame(
    Object.keys(raised(folder('1/1', '1/1'), { 'shared/text': { lines: 1, branches: 1 } })),
    ['shared/net'],
    'a folder that is gone needs none',
  )
  t.end()
})

t.test('the table rounds down, so that 100 is all of it', t => {
  t.equal(
    table(folder('9999/10000', '3/3')),
    ['coverage by unit tests, %     lines  branches', 'shared/net      99.9     100.0'].join('\n'),
  )
  t.end()
})

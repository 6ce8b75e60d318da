import t from 'tap'
import { formatCsv, parseCsv, type CsvValue } from '../../../../ipkeeper-server/cli/framework/csv-text.ts'

t.test('a cell, by RFC 4180, and as no spreadsheet runs it', t => {
  for (const [value, cell] of [
    ['shop/web-0', 'shop/web-0'],
    ['', ''],
    [null, ''],
    [253, '253'],
    [-1, '-1'],
    ['18446744073709551614', '18446744073709551614'],
    ['fd00:22::50', 'fd00:22::50'],
    ['a,b', '"a,b"'],
    ['the "old" one', '"the ""old"" one"'],
    ['two\nlines', '"two\nlines"'],
    ['two\r\nlines', '"two\r\nlines"'],
    [' room 12', '" room 12"'],
    ['=HYPERLINK("http://x")', '"\'=HYPERLINK(""http://x"")"'],
    ['+1', `"'+1"`],
    ['-1', `"'-1"`],
    ['@SUM(A1)', `"'@SUM(A1)"`],
    ['\t=1', `"'\t=1"`],
    ['\r=1', `"'\r=1"`],
    ['red \u001b[31m \u009b1m', 'red ?[31m ?1m'],
  ] as const satisfies readonly (readonly [CsvValue, string])[])
    t.equal(formatCsv(undefined, [[value, 'x']]), `${cell},x\r\n`, JSON.stringify(value))
  t.end()
})

t.test('lines', t => {
  t.equal(formatCsv(['address', 'note'], []), 'address,note\r\n')
  t.equal(
    formatCsv(
      ['address', 'note'],
      [
        ['10.22.0.2', null],
        ['10.22.0.3', 'x'],
      ],
    ),
    'address,note\r\n10.22.0.2,\r\n10.22.0.3,x\r\n',
  )
  t.end()
})

t.test('what was written is read again, and so is what a spreadsheet has saved', t => {
  const rows = [
    ['address', 'note'],
    ['10.22.0.50', 'the "old" one, upstairs'],
    ['fd00:22::50', '=1+1'],
    ['', "it's"],
    ['two\nlines', ''],
  ]
  t.strictSame(parseCsv(formatCsv(undefined, rows)), rows)
  for (const [text, read] of [
    ['', []],
    ['a,b\nc', [['a', 'b'], ['c']]],
    ['a,\n', [['a', '']]],
    ['a,', [['a', '']]],
    ['"a"\n\n"b,c"\n', [['a'], [''], ['b,c']]],
  ] as const)
    t.strictSame(parseCsv(text), read, JSON.stringify(text))
  for (const text of ['"a', 'a"b"', '"a"b'])
    t.throws(() => parseCsv(text), { message: /quotes are not closed or not doubled/ }, text)
  t.end()
})

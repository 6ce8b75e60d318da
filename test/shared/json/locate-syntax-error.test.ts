import t from 'tap'
import { locateSyntaxError } from '../../../shared/json/locate-syntax-error.ts'

t.test('valid texts have no fault', t => {
  for (const text of [
    '0',
    '-1.5e+3',
    '""',
    'null',
    '[]',
    '{}',
    '[[],{}]',
    ' {"a":[1,{"b":null}]} ',
    '"\\u00e9\\n"',
  ]) {
    t.equal(locateSyntaxError(text), undefined, text)
  }
  t.end()
})

t.test('offsets count UTF-16 units and point at the fault', t => {
  const faults: readonly [text: string, offset: number][] = [
    ['{"\u{1f600}":x}', 6],
    ['[1,2,]', 4],
    ['"abc', 4],
    ['{"a":1 "b"}', 7],
    ['-', 0],
    ['1e', 0],
    ['[tru]', 1],
  ]
  for (const [text, offset] of faults) t.equal(locateSyntaxError(text)?.offset, offset, text)
  t.end()
})

t.test('a million brackets, and as many values', t => {
  for (const text of ['['.repeat(1_000_000), `[${'1,'.repeat(1_000_000)}`])
    t.match(locateSyntaxError(text), { what: /the array is not closed$/, offset: text.length })
  t.end()
})

t.test('foreign text is shown short and on one line', t => {
  const what = locateSyntaxError('{"a":' + 'x'.repeat(200) + '}')?.what ?? ''
  t.ok(what.length < 120)
  t.match(what, '\u2026')
  t.notMatch(locateSyntaxError('"\\\u0007"')?.what, /[\u0000-\u001f]/)
  t.end()
})

t.test('what cannot be seen has a name', t => {
  const faults: readonly (readonly [text: string, what: string])[] = [
    ['\u0000', 'unexpected a NUL byte where a value is expected'],
    ['\ufffd', 'unexpected bytes that are no UTF-8 where a value is expected'],
    ['\u0001', 'unexpected the control character U+0001 where a value is expected'],
    ['"\u0007"', 'the control character U+0007 inside a string'],
  ]
  for (const [text, what] of faults) t.equal(locateSyntaxError(text)?.what, what, JSON.stringify(text))
  t.end()
})

import fc from 'fast-check'
import t from 'tap'
import { JsonSyntaxError, parseJson } from '../../../shared/json/parse-json.ts'

/** The error of a text that is not JSON; fails the test when there is none. */
function faultOf(text: string | Uint8Array): JsonSyntaxError | undefined {
  try {
    parseJson(text)
    return undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error
    throw error
  }
}

t.test('what is wrong, and where', t => {
  const faults: readonly [text: string, message: string][] = [
    ['', 'unexpected end of JSON input at line 1 column 1'],
    [' \n\t', 'unexpected end of JSON input at line 2 column 2'],
    ['{', 'unexpected end of JSON input, the object is not closed at line 1 column 2'],
    ['[1,', 'unexpected end of JSON input, the array is not closed at line 1 column 4'],
    ['{"a":1,"b"', 'unexpected end of JSON input, the object is not closed at line 1 column 11'],
    ['"abc', 'unexpected end of JSON input, a string is not closed at line 1 column 5'],
    ['"\\', 'unexpected end of JSON input inside a string at line 1 column 3'],
    ['{"a":1,}', 'trailing comma before "}" at line 1 column 7'],
    ['[1,\n 2 , ]', 'trailing comma before "]" at line 2 column 4'],
    ["{'a':1}", 'single quote; strings need double quotes at line 1 column 2'],
    ['{"a":`b`}', 'backquote; strings need double quotes at line 1 column 6'],
    ['{"a":\u201cb\u201d}', 'typographic quote \u201c; strings need plain double quotes at line 1 column 6'],
    ['{a:1}', 'key "a" without double quotes at line 1 column 2'],
    ['\ufeff{}', 'byte order mark (BOM); save the file as UTF-8 without BOM at line 1 column 1'],
    ['\u00a0{}', 'no-break space; use an ordinary space at line 1 column 1'],
    ['{}\u0000', 'text after the end of the document, beginning with a NUL byte at line 1 column 3'],
    ['{} x', 'text after the end of the document, beginning with "x" at line 1 column 4'],
    ['{}\r\n{}', 'text after the end of the document, beginning with "{" at line 2 column 1'],
    ['{"a" 1}', 'missing colon after the key, found "1" at line 1 column 6'],
    ['{"a":1\n"b":2}', 'missing comma or "}" before a double quote at line 2 column 1'],
    ['{"a":,}', '"," where a value is expected at line 1 column 6'],
    ['{,}', 'a comma with nothing before it at line 1 column 2'],
    ['[1}', '"}" where the array needs "]" at line 1 column 3'],
    ['{"a":1]', '"]" where the object needs "}" at line 1 column 7'],
    ['[1:2]', '":" in an array; only objects have keys at line 1 column 3'],
    ['# c\n{}', 'comment or stray "#"; JSON has no comments at line 1 column 1'],
    ['{"a":1 // c\n}', 'comment or stray "/"; JSON has no comments at line 1 column 8'],
    ['{"a":True}', 'unknown word "True"; only true, false and null stand without quotes at line 1 column 6'],
    ['{"a":01}', 'invalid number "01"; a number has no leading zero at line 1 column 6'],
    ['{"a":+1}', 'invalid number "+1"; a number has no plus sign at line 1 column 6'],
    ['{"a":.5}', 'invalid number ".5"; digits are needed on both sides of the point at line 1 column 6'],
    ['{"a":0x1}', 'invalid number "0x1"; only decimal numbers are JSON at line 1 column 6'],
    [
      '{"a":10.22.0.1}',
      'invalid number "10.22.0.1"; an address is a string and needs double quotes at line 1 column 6',
    ],
    ['"a\nb"', 'line break inside a string; is the closing quote missing? at line 1 column 3'],
    ['"\t"', 'the control character U+0009 inside a string at line 1 column 2'],
    ['"\\x"', 'invalid escape "\\x" in a string at line 1 column 2'],
    ['"\\u12G4"', 'invalid escape "\\u12G4" in a string at line 1 column 2'],
    [
      '["\u00e9\u{1f600}", x]',
      'unknown word "x"; only true, false and null stand without quotes at line 1 column 8',
    ],
  ]
  for (const [text, message] of faults) t.equal(faultOf(text)?.message, message, JSON.stringify(text))
  t.end()
})

t.test('parts of the error', t => {
  t.match(faultOf('{\n  "a": 1,\n}'), { what: 'trailing comma before "}"', line: 2, column: 9 })
  t.end()
})

t.test('what Go accepts is accepted', t => {
  const bytes = (...values: readonly (string | number)[]): Uint8Array =>
    Buffer.concat(
      values.map(value => (typeof value === 'string' ? Buffer.from(value) : Buffer.from([value]))),
    )
  t.same(parseJson(bytes('{"a":"', 0xff, '"}')), { a: '\ufffd' }, 'bytes that are no UTF-8 are replaced')
  t.same(parseJson('{"a":1,"a":2}'), { a: 2 }, 'the last of equal keys wins')
  t.same(parseJson(' \r\n\t{} '), {})
  t.same(parseJson('"\\ud800"'), '\ud800')
  t.end()
})

const behind = 'a fault behind the first 262144 characters'

t.test('a text of a million brackets is answered, not overflowed', t => {
  t.match(faultOf('['.repeat(100_000))?.what, 'the array is not closed')
  t.equal(faultOf('['.repeat(1_000_000))?.message, `${behind} at line 1 column 262146`)
  t.equal(faultOf(`[\r\n"${'\u{1f600}'.repeat(200_000)}", x]`)?.message, `${behind} at line 2 column 200003`)
  t.end()
})

t.test('property: what JSON.stringify makes is read back', t => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      t.same(parseJson(JSON.stringify(value)), JSON.parse(JSON.stringify(value)))
    }),
    { numRuns: 100 },
  )
  t.pass()
  t.end()
})

t.test('property: whatever JSON.parse refuses is located inside the text', t => {
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    'a',
    '1',
    '0',
    '-',
    '.',
    'e',
    'true',
    ' ',
    '\n',
    '"k":',
  ]
  const almostJson = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map(parts => parts.join(''))
  fc.assert(
    fc.property(fc.oneof(almostJson, fc.string()), text => {
      let valid = true
      try {
        JSON.parse(text)
      } catch {
        valid = false
      }
      const fault = faultOf(text)
      if (valid !== (fault === undefined)) return false
      const lines = text.split(/\r\n|\n|\r/)
      return fault === undefined || Array.from(lines[fault.line - 1] ?? '').length + 1 >= fault.column
    }),
    { numRuns: 2000 },
  )
  t.pass()
  t.end()
})

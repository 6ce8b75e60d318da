import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { toJson } from '../../../../../ipkeeper-server/diagnose/lint/json/json-node.ts'
import { LineMap } from '../../../../../ipkeeper-server/diagnose/lint/line-map.ts'
import { parseTolerantly } from '../../../../../ipkeeper-server/diagnose/lint/json/parse-tolerantly.ts'

/** Faults as "LINE:COLUMN rule". */
function faultsOf(text: string): string[] {
  const lines = new LineMap(text)
  return parseTolerantly(text).faults.map(({ rule, start }) => {
    const { line, column } = lines.placeOf(start)
    return `${line}:${column} ${rule}`
  })
}

t.test('each mistake, once, where it is', t => {
  const rows: readonly (readonly [text: string, ...faults: string[]])[] = [
    ['{}'],
    ['{ "a": [1, -2.5e3, true, null, "x\\n"] }\r\n'],
    ['{"a":1,}', '1:7 trailing-comma'],
    ['[\n1,\n]', '2:2 trailing-comma'],
    ['{"a":1\n"b":2}', '2:1 missing-comma'],
    ['[1 2]', '1:4 missing-comma'],
    ['{"a" 1}', '1:6 missing-colon'],
    ['{"a" = 1}', '1:6 missing-colon'],
    ['{"a"}', '1:5 missing-colon'],
    ['{"a":}', '1:6 missing-value'],
    ['{"a":,"b":1}', '1:6 missing-value'],
    ['{,"a":1}', '1:2 extra-comma'],
    ['[1,,2]', '1:4 extra-comma'],
    ["{'a': 'b'}", '1:2 single-quotes', '1:7 single-quotes'],
    ['{"a": `b`}', '1:7 single-quotes'],
    ['{\u201ca\u201d: 1}', '1:2 typographic-quotes'],
    ['{a: 1}', '1:2 unquoted-key'],
    ['{"a": True, "b": None, "c": yes}', '1:7 unquoted-value', '1:18 unquoted-value', '1:29 unquoted-value'],
    ['{"a": NaN}', '1:7 unquoted-value'],
    ['{"a": some more words, "b": 1}', '1:7 unquoted-value'],
    ['{"a": 10.22.0.0/16}', '1:7 unquoted-value'],
    ['{"a": fd00:22::/64, "b": ::1}', '1:7 unquoted-value', '1:26 unquoted-value'],
    ['{"a": 01, "b": .5, "c": 0x10}', '1:7 invalid-number', '1:16 invalid-number', '1:25 invalid-number'],
    ['{"a": "x\ty"}', '1:9 control-character'],
    ['{\n\t"a":\t1\n}'],
    [String.raw`{"a": "\x", "b": "\u12"}`, '1:8 invalid-escape', '1:19 invalid-escape'],
    ['// x\n{"a": /* y */ 1 # z\n}', '1:1 comment', '2:7 comment', '2:17 comment'],
    ['{"a": 1 /* x', '1:9 comment'],
    ['\ufeff{}', '1:1 byte-order-mark'],
    ['', '1:1 empty-file'],
    [' \n ', '1:1 empty-file'],
    ['{\0}', '1:2 text-encoding'],
    ['{"a": "b,\n"c": 1}', '1:7 unclosed-string'],
    ['{"a: "b",\n"c": 1}', '1:2 unclosed-string'],
    ['{"a": [1, {"b": 2}\n', '2:1 unclosed-bracket'],
    ['{"a": [1, 2}', '1:12 unclosed-bracket'],
    ['{"a": "b"]', '1:10 mismatched-bracket'],
    ['}', '1:1 mismatched-bracket'],
    ['{}}', '1:3 trailing-text'],
    ['{}\n{}', '2:1 trailing-text'],
    ['{} x', '1:4 trailing-text'],
    ['{\u00a0"a": 1}', '1:2 unexpected-character'],
    ['{"a": {{ .Mtu }}, "b": __CNI_MTU__}', '1:7 template-marker', '1:24 template-marker'],
    ['{"a": ${MTU}, "b": <mtu>, {{- if x }}\n"c": @MTU@}'].flatMap(text => [
      text,
      ...['1:7 template-marker', '1:20 template-marker', '1:27 template-marker', '2:6 template-marker'],
    ]) as [string, ...string[]],
    ['['.repeat(300), '1:201 too-deep'],
    // Columns count characters, whatever they take in the file or on the screen.
    ['{"\u{1f600}\u00e9": 1,}', '1:9 trailing-comma'],
    [
      "{'a': 1,\n b: True,}",
      '1:2 single-quotes',
      '2:2 unquoted-key',
      '2:5 unquoted-value',
      '2:9 trailing-comma',
    ],
  ]
  for (const [text, ...faults] of rows)
    t.strictSame(faultsOf(text), faults, JSON.stringify(text).slice(0, 60))
  t.end()
})

t.test('a bracket that is not closed is reported with the place where it was opened', t => {
  const [fault] = parseTolerantly('{\n  "plugins": [\n    {"type": "x"}\n').faults
  t.match(fault?.message, /"\[" opened at 2:14 is not closed, nor is "\{" opened at 1:1/)
  t.match(fault?.remedy, /"\]\}"/)
  t.end()
})

t.test('what is meant is read in spite of mistakes that leave no doubt', t => {
  const rows: readonly (readonly [string, unknown])[] = [
    ['\ufeff{"a": [1, 2,], // x\n "b": \'c"d\'}', { a: [1, 2], b: 'c"d' }],
    ['{"a": 1 "b": {c: 2}}', { a: 1, b: { c: 2 } }],
    ["{'it\\'s': 1}", { "it's": 1 }],
    ['{"__proto__": {"x": 1}}', JSON.parse('{"__proto__": {"x": 1}}')],
  ]
  for (const [text, value] of rows) {
    const { root, sound } = parseTolerantly(text)
    t.ok(sound, text)
    t.strictSame(root && toJson(root), value, text)
  }
  for (const text of ['{"a": [1}', '{"a": "b\n}', '{"a" 1}', '{"a": 1', ''])
    t.notOk(parseTolerantly(text).sound, text)
  t.end()
})

const document = fc.jsonValue({ maxDepth: 5 }).filter(value => typeof value === 'object' && value !== null)

t.test('what is JSON is read as JSON.parse reads it, without complaint', t => {
  fc.assert(
    fc.property(document, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      const { root, faults } = parseTolerantly(text)
      assert.deepEqual(faults, [])
      assert.deepEqual(root && toJson(root), JSON.parse(text))
    }),
    { numRuns: 300 },
  )
  t.end()
})

t.test('a comma before the configuration hides nothing of it', t => {
  t.strictSame(faultsOf(',\n{"a": 1,}'), ['1:1 missing-value', '2:8 trailing-comma'])
  t.end()
})

t.test('one mistake in a sound text is found where it was made', t => {
  const shape = fc.record({
    name: fc.string(),
    plugins: fc.array(fc.record({ type: fc.string(), mtu: fc.nat() }), { minLength: 1 }),
  })
  let made = 0
  fc.assert(
    fc.property(shape, fc.nat(), (value, seed) => {
      const text = JSON.stringify(value, null, 2)
      const spots = Array.from(text.matchAll(/\n *[}\]]/g), ({ index }) => index)
      const at = spots[seed % spots.length] ?? 0
      const mutants: readonly (readonly [string, string, number])[] = [
        [`${text.slice(0, at)},${text.slice(at)}`, 'trailing-comma', at],
        [`${text.slice(0, at)} // x${text.slice(at)}`, 'comment', at + 1],
        [`\ufeff${text}`, 'byte-order-mark', 0],
        [text.slice(0, at), 'unclosed-bracket', at],
      ]
      for (const [mutant, rule, place] of mutants) {
        const faults = parseTolerantly(mutant).faults.map(fault => [fault.rule, fault.start])
        assert.deepEqual(faults, [[rule, place]])
        made++
      }
    }),
    { numRuns: 200 },
  )
  t.ok(made >= 800)
  t.end()
})

t.test(
  'whatever the text is: no exception, faults within it and in its order, none where JSON.parse has none',
  t => {
    const piece = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        "'",
        '\\',
        '/',
        '*',
        '#',
        '\n',
        ' ',
        '{{',
        '}}',
        '${',
        '<a',
        '__A__',
      ],
      ...[
        'true',
        'None',
        '1',
        '-',
        '1.',
        '"a"',
        '"b":',
        '\u201c',
        '\ufeff',
        '\u00a0',
        '\ud83d',
        '\u{1f600}',
        ':',
        '::1',
      ],
    )
    const texts = fc.oneof(
      fc.array(piece, { maxLength: 40 }).map(parts => parts.join('')),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(
      fc.property(texts, text => {
        const { faults, sound } = parseTolerantly(text)
        let last = 0
        for (const { start, end } of faults) {
          assert.ok(start >= last && end >= start && end <= text.length)
          last = start
        }
        let valid = true
        try {
          JSON.parse(text)
        } catch {
          valid = false
        }
        assert.equal(faults.length === 0, valid)
        if (valid) assert.ok(sound)
      }),
      { numRuns: 3000 },
    )
    t.end()
  },
)

t.test('large hostile texts cost no more than their length', t => {
  const long = 1024 * 1024
  const units = [
    '[',
    '{',
    '{{',
    '"',
    "'",
    '/',
    '/*',
    '#',
    ',',
    '${',
    '<a ',
    '\\',
    '{{}',
    '1 ',
    'a:',
    ':',
    '\u201c',
    '{"a":{{},',
    '[1}',
    '"a"\n',
  ]
  for (const unit of units) {
    const { faults } = parseTolerantly(unit.repeat(long / unit.length))
    t.ok(faults.length > 0 && faults.length <= 101, JSON.stringify(unit))
  }
  const string = `{"a": "${'x\\n'.repeat(long / 3)}"}`
  t.strictSame(parseTolerantly(string).faults, [])
  t.end()
})

import t from 'tap'
import { fixText } from '../../../../../ipkeeper-server/diagnose/lint/json/fix-text.ts'

t.test('safe mistakes are fixed, and nothing else changes', t => {
  const rows: readonly (readonly [text: string, fixed: string])[] = [
    ['{"a": [1, 2,],\n}', '{"a": [1, 2]\n}'],
    ["{'a': 'b\"c', \"d\": 'it\\'s'}", '{"a": "b\\"c", "d": "it\'s"}'],
    ['\ufeff{}\n', '{}\n'],
    [
      '// head\n{\n  // own line\n  "a": 1, // end\r\n  /* in */ "b": 2 # last\n}\n',
      '{\n  "a": 1,\r\n   "b": 2\n}\n',
    ],
    ['{"a": 1, // x\n}', '{"a": 1\n}'],
  ]
  for (const [text, fixed] of rows) {
    const done = fixText(text)
    t.equal(done.kind === 'fixed' ? done.text : done.kind, fixed, JSON.stringify(text))
  }
  t.end()
})

t.test('a text with any other mistake is left alone, and so is one without', t => {
  for (const text of [
    '{"a": 1 "b": 2,}',
    '{"a": True,}',
    '{"a": [1,',
    "{'a\tb': 1}",
    '',
    '// only a comment',
  ])
    t.equal(fixText(text).kind, 'by-hand', JSON.stringify(text))
  t.strictSame(fixText('{"a": "// no comment, \'neither\',}"}'), { kind: 'sound' })
  t.end()
})

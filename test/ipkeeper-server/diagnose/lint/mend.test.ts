import t from 'tap'
import { mend } from '../../../../ipkeeper-server/diagnose/lint/mend.ts'

t.test('safe mistakes are mended, and nothing else changes', t => {
  const rows: readonly (readonly [text: string, mended: string])[] = [
    ['{"a": [1, 2,],\n}', '{"a": [1, 2]\n}'],
    ["{'a': 'b\"c', \"d\": 'it\\'s'}", '{"a": "b\\"c", "d": "it\'s"}'],
    ['\ufeff{}\n', '{}\n'],
    [
      '// head\n{\n  // own line\n  "a": 1, // end\r\n  /* in */ "b": 2 # last\n}\n',
      '{\n  "a": 1,\r\n   "b": 2\n}\n',
    ],
    ['{"a": 1, // x\n}', '{"a": 1\n}'],
  ]
  for (const [text, mended] of rows) {
    const done = mend(text)
    t.equal(done.kind === 'mended' ? done.text : done.kind, mended, JSON.stringify(text))
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
    t.equal(mend(text).kind, 'beyond', JSON.stringify(text))
  t.strictSame(mend('{"a": "// no comment, \'neither\',}"}'), { kind: 'good' })
  t.end()
})

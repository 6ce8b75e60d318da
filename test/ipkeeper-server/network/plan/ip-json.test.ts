import t from 'tap'
import { escapeIpJson } from '../../../../ipkeeper-server/network/plan/ip-json.ts'

const cases: readonly (readonly [what: string, printed: string, value: unknown])[] = [
  ['as it is', '[{"ifname":"eth0"}]\n', [{ ifname: 'eth0' }]],
  ['a control character', '["a\u0001b"]', ['a\u0001b']],
  ['the first and the last', '["\u0000\u001f"]', ['\u0000\u001f']],
  ['what ip escapes', '["a\\tb\\nc\\"d\\\\e"]', ['a\tb\nc"d\\e']],
  ['after an escaped backslash', '["\\\\\u0002"]', ['\\\u0002']],
  ['space between', '[\n\t"a",\r\n"b"]', ['a', 'b']],
  ['DEL and beyond', '["\u007f\u0080ä\ufffd"]', ['\u007f\u0080ä\ufffd']],
]

t.test('what ip prints is JSON', t => {
  for (const [what, printed, value] of cases) t.strictSame(JSON.parse(escapeIpJson(printed)), value, what)
  t.end()
})

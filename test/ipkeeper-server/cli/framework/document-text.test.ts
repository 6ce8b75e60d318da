import t from 'tap'
import { parse } from 'yaml'
import { jsonText, yamlText } from '../../../../ipkeeper-server/cli/framework/document-text.ts'

/** Texts that a reader might take for something else, or a terminal obey. */
const data = {
  ...{ none: null, flag: true, count: 253, list: [], large: '18446744073709551614' },
  texts: ['yes', 'no', '~', '10:20', '00:11:22:33:44:55', '1e3', '0x1F', '2026-01-01', 'fd00:22::50', '=1'],
  controls: ['\u001b[31m', 'x\u009b31m', '\u007f', 'two\nlines', '\u0085'],
}

t.test('documents are read as what they were, by readers of YAML 1.1 and 1.2', t => {
  for (const text of [jsonText(data, 0), jsonText(data, 2)]) t.strictSame(JSON.parse(text), data)
  for (const version of ['1.1', '1.2'] as const)
    t.strictSame(parse(yamlText(data), { version }), data, version)
  t.end()
})

t.test('no control reaches a terminal', t => {
  for (const text of [jsonText(data, 2), yamlText(data)]) t.notMatch(text, /(?!\n)\p{Cc}/u)
  t.end()
})

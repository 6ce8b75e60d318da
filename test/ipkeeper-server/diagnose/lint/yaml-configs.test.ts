import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { stringify } from 'yaml'
import { looksLikeYaml, readYaml } from '../../../../ipkeeper-server/diagnose/lint/yaml-configs.ts'
import { lintFiles, placesOf } from './lint-text.ts'

/** What the linter says of a comma before a bracket, in a manifest with this data. */
function commas(data: string): string[] {
  const text = `apiVersion: v1\nkind: ConfigMap\ndata:\n${data}`
  return lintFiles({ 'x.yaml': text })
    .findings.filter(({ rule }) => rule === 'trailing-comma')
    .map(({ line, column }) => `${line}:${column}`)
}

t.test('findings have the line and column of the YAML file', t => {
  const rows: readonly (readonly [what: string, data: string, ...places: string[]])[] = [
    ['a block', '  x.conflist: |\n    { "cniVersion": "1.0.0",\n      "name": "a",\n    }\n', '6:18'],
    ['one that keeps its end', '  x.conflist: |+\n    { "name": "a", }\n\n', '5:18'],
    ['one with its indentation said', '  x.conflist: |2\n     { "name": "a", }\n', '5:19'],
    ['after blank lines', '  x.conflist: |\n\n\n    { "name": "a", }\n', '7:18'],
    ['a folded block', '  x.conflist: >-\n    { "name":\n    "a\n    b", }\n', '7:7'],
    ['single quotes', `  x.conflist: '{ "name": "it''s", }'\n`, '4:33'],
    ['double quotes', String.raw`  x.conflist: "{ \"name\": \"a\",\n }"` + '\n', '4:33'],
    ['over several lines', `  x.conflist: '{ "name":\n    "a", }'\n`, '5:8'],
    ['several keys', '  a.conflist: |\n    {"a":1,}\n  b.conflist: |\n    {"b":2,}\n', '5:11', '7:11'],
    ['another indentation', '    x.conflist: |\n            {"a":1,}\n', '5:19'],
    ['CRLF', '  x.conflist: |\r\n    {\r\n    "a":1,\r\n    }\r\n', '6:10'],
    ['a key of calico', '  cni_network_config: |-\n    { "cniVersion": "0.3.1", }\n', '5:28'],
    ['what is no network configuration', '  net-conf.json: |\n    { "Network": "10.244.0.0/16", }\n'],
    ['a second document', '  a: b\n---\ndata:\n  x.conflist: |\n    {"a":1,}\n', '8:11'],
  ]
  for (const [what, data, ...places] of rows) t.strictSame(commas(data), places, what)
  t.end()
})

t.test('lists of objects, and a NetworkAttachmentDefinition', t => {
  const files = {
    'x.yaml': `kind: List
items:
  - kind: ConfigMap
    data:
      x.conflist: '{"cniVersion": "1.0"}'
  - kind: NetworkAttachmentDefinition
    spec:
      config: '{ "cniVersion": "1.1", "type": "ipvlan" }'
`,
  }
  t.strictSame(placesOf('cni-version-unknown', files, lintFiles(files)), [
    'x.yaml:5 error "1.0"',
    'x.yaml:8 error "1.1"',
  ])
  t.end()
})

t.test('any text in a literal block is read as it is, and each place is its own', t => {
  const line = fc.stringMatching(/^[a-z{},:"' ]{0,12}$/)
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 6 }), lines => {
      const content = `{"cniVersion"\n${lines.join('\n')}\n`
      const text = stringify({ data: { 'x.conflist': content } }, { blockQuote: 'literal', lineWidth: 0 })
      const [config] = readYaml(text).configs
      assert.equal(config?.view.text, content)
      for (const [index, character] of Array.from(content).entries())
        if (character !== '\n' && /x\.conflist: \|/.test(text))
          assert.equal(text[config.view.inFile(index)], character)
    }),
    { numRuns: 300 },
  )
  t.end()
})

t.test('never throws', t => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[-a:|>'"&*{}[\], \n\t]{0,40}$/)), text => {
      readYaml(text)
      lintFiles({ 'x.yaml': text, 'y.conflist': text })
    }),
    { numRuns: 1000 },
  )
  t.end()
})

t.test('what is YAML', t => {
  const rows: readonly (readonly [string, boolean])[] = [
    ['a: 1', true],
    ['# c\n\nkind: x', true],
    ['---\n{}', true],
    ['{ "a": 1 }', false],
    ['# c\n{}', false],
    ['', false],
    ['name', false],
  ]
  for (const [text, yaml] of rows) t.equal(looksLikeYaml(text), yaml, JSON.stringify(text))
  t.end()
})

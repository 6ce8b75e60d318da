import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { stringify } from 'yaml'
import { attachmentName } from '../../../../ipkeeper-server/diagnose/lint/attachment-objects.ts'
import { lint } from '../../../../ipkeeper-server/diagnose/lint/lint.ts'
import { readYaml } from '../../../../ipkeeper-server/diagnose/lint/yaml-configs.ts'
import { lintFiles, placesOf } from './lint-text.ts'

const head = 'apiVersion: k8s.cni.cncf.io/v1\nkind: NetworkAttachmentDefinition\nmetadata:\n  name: lan\n'

/** Where a range without prefix is found in a definition whose spec is written like this, and where it stands. */
function places(spec: string): { readonly found: readonly string[]; readonly stands: string } {
  const text = `${head}spec:\n${spec}`
  const before = text.slice(0, /\\?"10\.9\.0\.0/.exec(text)?.index).split('\n')
  const found = lintFiles({ 'x.yaml': text })
    .findings.filter(({ rule }) => rule === 'invalid-address')
    .map(({ line, column }) => `${line}:${column}`)
  return { found, stands: `${before.length}:${(before.at(-1) ?? '').length + 1}` }
}

const ipam = '"ipam": { "type": "host-local", "subnet": "10.9.0.0" }'
const config = `{ "cniVersion": "1.0.0", "type": "macvlan", ${ipam} }`

t.test('the config of a definition has the line and column of the YAML file, however it is written', t => {
  const escaped = JSON.stringify(ipam).slice(1, -1)
  const rows: Readonly<Record<string, string>> = {
    'a literal block': `  config: |\n    { "type": "macvlan",\n      ${ipam} }\n`,
    'one with its indentation said': `  config: |1\n    { "type": "macvlan",\n      ${ipam} }\n`,
    'a folded block': `  config: >-\n    { "type": "macvlan",\n    ${ipam} }\n`,
    'a folded one with an indented line': `  config: >\n    { "type": "macvlan",\n      ${ipam} }\n`,
    'single quotes': `  config: '${config}'\n`,
    'single quotes over lines': `  config: '{ "type": "macvlan",\n\n    ${ipam} }'\n`,
    'double quotes': `  config: ${JSON.stringify(config)}\n`,
    'double quotes over lines': `  config: "{\\n \\"type\\": \\"macvlan\\",\\\n    ${escaped} }"\n`,
    'no version and no list': `  config: '{ "type": "x", ${ipam} }'\n`,
    'an alias': `  other: &it '{ "type": "x", ${ipam} }'\n  config: *it\n`,
  }
  for (const [what, spec] of Object.entries(rows)) {
    const { found, stands } = places(spec)
    t.strictSame(found, [stands], what)
  }
  t.end()
})

t.test('any style of scalar that is read as JSON has each key where it stands', t => {
  const styles = ['QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'] as const
  const word = fc.stringMatching(/^[a-z][a-z0-9 '.:#-]{0,20}[a-z]$/)
  fc.assert(
    fc.property(
      fc.uniqueArray(word, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(...styles),
      fc.constantFrom(0, 2),
      (words, style, indent) => {
        const content = JSON.stringify(Object.fromEntries(words.map(key => [key, 1])), null, indent)
        const spec = { config: content }
        const text = `${head}spec:\n${stringify({ spec }, { defaultStringType: style, defaultKeyType: 'PLAIN', lineWidth: 60 }).replace('spec:\n', '')}`
        const [found] = readYaml(text).configs
        assert.deepEqual(JSON.parse(found?.view.text ?? ''), JSON.parse(content), text)
        for (const key of words) {
          const first = found?.view.text.indexOf(key) ?? -1
          assert.equal(text[found?.view.inFile(first) ?? -1], key[0], text)
        }
      },
    ),
    { numRuns: 400 },
  )
  t.end()
})

t.test('definitions and pods of a file', t => {
  const text = `kind: List
items:
  - { kind: NetworkAttachmentDefinition, metadata: { name: a, namespace: shop } }
  - { kind: NetworkAttachmentDefinition, metadata: { name: b }, spec: { config: '' } }
  - { kind: NetworkAttachmentDefinition, metadata: { name: c }, spec: { config: { type: bridge } } }
  - { kind: NetworkAttachmentDefinition }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: web, namespace: shop, annotations: { above: 'no' } }
spec: { template: { metadata: { annotations: { x: 'y', n: 1 } } } }
---
apiVersion: v1
kind: Pod
metadata: { name: one, annotations: { ipkeeper.io/ip: 10.0.0.1 } }
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: { name: rs }
---
just a text
`
  const { attachments, pods, plainConfigs } = readYaml(text)
  t.strictSame(attachments.map(attachmentName), ['shop/a', 'b', 'c', ''])
  t.strictSame(
    attachments.map(({ config }) => config),
    [undefined, undefined, undefined, undefined],
  )
  t.equal(plainConfigs.length, 1)
  t.match(pods, [
    { what: 'StatefulSet web', namespace: 'shop', annotations: [{ key: 'x' }] },
    { what: 'Pod one', namespace: '', annotations: [{ key: 'ipkeeper.io/ip' }] },
  ])
  t.equal(pods[0]?.annotations.length, 1, 'what is no text is no annotation')
  t.end()
})

t.test('a copy that kubectl keeps of a definition is not read as another one', t => {
  const applied = JSON.stringify({ spec: { config: '{ "cniVersion": "9" }' } })
  const files = {
    'x.yaml': `${head}  annotations:\n    kubectl.kubernetes.io/last-applied-configuration: '${applied}'\nspec:\n  config: '{ "cniVersion": "1.0", "type": "x" }'\n`,
  }
  t.strictSame(placesOf('cni-version-unknown', files, lintFiles(files)), ['x.yaml:8 error "1.0"'])
  t.end()
})

t.test('what kubectl writes as JSON', t => {
  const object = {
    kind: 'NetworkAttachmentDefinition',
    metadata: { name: 'lan', namespace: 'shop' },
    spec: { config: '{\n  "cniVersion": "1.0",\n  "type": "x"\n}' },
  }
  const text = JSON.stringify({ apiVersion: 'v1', items: [object], kind: 'List' }, undefined, 2)
  const { findings } = lint({ files: [{ path: '<stdin>', name: '<stdin>', text }] })
  const [finding] = findings.filter(({ rule }) => rule === 'cni-version-unknown')
  const line = text.split('\n')[(finding?.line ?? 0) - 1] ?? ''
  t.equal(line.indexOf(String.raw`\"1.0`) + 1, finding?.column)
  t.end()
})

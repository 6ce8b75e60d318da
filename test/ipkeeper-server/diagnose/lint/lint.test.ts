import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lint } from '../../../../ipkeeper-server/diagnose/lint/lint.ts'
import { lintFiles, listOf } from './lint-text.ts'

const good = (name: string): string => listOf('{ "type": "bridge" }', name)

t.test('which file the runtime takes, and why not the others', t => {
  const rows: readonly (readonly [
    what: string,
    files: Readonly<Record<string, string>>,
    maxConfNum: number,
    ...chosen: (readonly [name: string, chosen: boolean, why: RegExp])[],
  ])[] = [
    [
      'the first by bytes, a dotfile before all',
      { 'b.conflist': good('b'), 'B.conflist': good('B'), '.z.conf': '{"name":"z","type":"x"}', 'a.txt': '' },
      1,
      ['.z.conf', true, /first by name/],
      ['B.conflist', false, /after \.z\.conf/],
      ['a.txt', false, /of this name/],
      ['b.conflist', false, /after \.z\.conf/],
    ],
    [
      'two',
      { '1.conflist': good('a'), '2.conflist': good('b'), '3.conflist': good('c') },
      2,
      ['1.conflist', true, /first/],
      ['2.conflist', true, /as well/],
      ['3.conflist', false, /after 1\.conflist, 2\.conflist/],
    ],
    [
      'a broken one before it',
      { '1.conf': '{', '2.conflist': good('b') },
      1,
      ['1.conf', false, /containerd fails at it, CRI-O skips it/],
      ['2.conflist', false, /CRI-O skips that one/],
    ],
  ]
  for (const [what, files, maxConfNum, ...chosen] of rows) {
    const reply = lintFiles(files, { directory: { path: '/net.d', maxConfNum } })
    t.strictSame(
      reply.files.map(({ file, chosen: taken }) => [file.slice('/net.d/'.length), taken]),
      chosen.map(([name, taken]) => [name, taken]),
      what,
    )
    for (const [index, [, , why]] of chosen.entries()) t.match(reply.files[index]?.why, why, what)
  }
  t.end()
})

t.test('findings are in the order of files and text, and never more than 200 of a file, errors first', t => {
  const many = listOf(
    `{ "type": "bridge", ${Array.from({ length: 300 }, (_, n) => `"zzzzzzzz${n}": 1`).join(', ')}, "mtu": "x" }`,
  )
  const { findings } = lintFiles({ 'b.conflist': many, 'a.conflist': '{"name":1,}' })
  t.equal(findings.filter(({ file }) => file.endsWith('b.conflist')).length, 200)
  t.ok(findings.some(({ rule }) => rule === 'wrong-type'))
  const places = findings.filter(({ file }) => file.endsWith('b.conflist')).map(({ column }) => column)
  t.strictSame(
    places,
    places.toSorted((a, b) => a - b),
  )
  t.end()
})

t.test('messages are one line, whatever stands in the file', t => {
  const { findings } = lintFiles({ 'x.conflist': listOf('{ "type": "bridge", "a\\n\\u001b[2J\\u202e": 1 }') })
  t.ok(findings.some(({ rule }) => rule === 'unknown-key'))
  for (const { message, remedy } of findings) t.notMatch(message + remedy, /[\p{Cc}\p{Bidi_Control}]/u)
  t.end()
})

t.test('texts of 1 MiB are linted as well', t => {
  const repeated = (part: string, joint: string): string =>
    Array.from({ length: Math.floor((1024 * 1024) / part.length) }, () => part).join(joint)
  const ranges = (text: string): string =>
    listOf(`{ "type": "bridge", "ipam": { "type": "ipkeeper", "ranges": ${text} } }`)
  const texts = [
    listOf(repeated('{ "type": "bridge", "ipam": { "type": "ipkeeper", "subnet": "10.0.0.0/8" } }', ',\n')),
    ranges(`[[${repeated('{ "subnet": "10.0.0.0/8" }', ',')}]]`),
    ranges(`[${repeated('[{ "subnet": "10.0.0.0/8" }]', ',')}]`),
    listOf(`{ "type": "bridge", ${repeated('"bridgee": 1', ',')} }`),
    listOf(`{ "type": "ipkeeper", ${repeated('"moode": 1', ',')} }`),
  ]
  for (const text of texts) t.ok(lintFiles({ 'x.conflist': text }).findings.length > 0)
  t.end()
})

t.test('what this repository shows as conflists has no errors', t => {
  const root = join(import.meta.dirname, '..', '..', '..', '..')
  let blocks = 0
  for (const page of globSync(['README.md', 'docs/**/*.md'], { cwd: root })) {
    const text = readFileSync(join(root, page), 'utf8')
    for (const [, indent = '', body = ''] of text.matchAll(/^( *)```json\n([\s\S]*?)^\1```$/gm)) {
      if (!body.includes('"plugins"')) continue
      blocks++
      const config = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
      const { findings } = lint({ files: [{ path: page, name: 'x.conflist', text: config }] })
      t.strictSame(
        findings.filter(({ severity }) => severity === 'error'),
        [],
        page,
      )
    }
  }
  t.ok(blocks > 5)
  t.end()
})

import t from 'tap'
import type { Fault } from '../../../ipkeeper-server/config/setting-faults.ts'
import { YamlSource } from '../../../ipkeeper-server/config/yaml-source.ts'

/** "line:column text" of each fault. */
const faultsOf = (text: string): string[] =>
  new YamlSource(text).faults.map(({ position: { line, column }, text: what }) => `${line}:${column} ${what}`)

const readable: readonly (readonly [name: string, text: string, value: unknown])[] = [
  ['nothing', '', null],
  ['a comment', '# x', null],
  ['a mapping', 'a: 1\nb: [x, { c: y }]\n', { a: 1, b: ['x', { c: 'y' }] }],
  ['JSON', '{"a": {"b": [1, null, true]}}', { a: { b: [1, null, true] } }],
  ['addresses', '{ a: ::/0, b: fd00::1, c: 10.0.0.0/8 }', { a: '::/0', b: 'fd00::1', c: '10.0.0.0/8' }],
  ['words that other versions take for booleans', 'a: yes\nb: off\n', { a: 'yes', b: 'off' }],
  ['an alias', 'a: &x { b: 1 }\nc: [*x, *x]\n', { a: { b: 1 }, c: [{ b: 1 }, { b: 1 }] }],
  ['an anchor that is used again', 'a: &x 1\nb: *x\nc: &x 2\nd: *x\n', { a: 1, b: 1, c: 2, d: 2 }],
  ['a hundred uses of one anchor', `a: &x 1\nb: [${'*x, '.repeat(100)}]`, { a: 1, b: Array(100).fill(1) }],
  ['a byte order mark', '\ufeffa: 1', { a: 1 }],
  ['Windows ends of lines', 'a: 1\r\nb: 2\r\n', { a: 1, b: 2 }],
  ['nesting like that of any file', `${'['.repeat(60)}${']'.repeat(60)}`, nested(60)],
]
function nested(depth: number): unknown {
  return depth === 1 ? [] : [nested(depth - 1)]
}
for (const [name, text, value] of readable) {
  t.test(`read: ${name}`, t => {
    t.strictSame(faultsOf(text), [])
    t.strictSame(new YamlSource(text).value, value)
    t.end()
  })
}

const laughs = Array.from(
  { length: 10 },
  (_, level) => `a${level}: &a${level} [${(level === 0 ? 'x, ' : `*a${level - 1}, `).repeat(10)}]\n`,
).join('')

const broken: readonly (readonly [name: string, text: string, faults: readonly string[]])[] = [
  ['a key twice', 'a: 1\nb:\n  c: 1\n  c: 2\n', ['4:3 the key "c" is there already, in line 3']],
  ['a key twice in JSON', '{"a": 1, "a": 2}', ['1:10 the key "a" is there already, in line 1']],
  [
    'a key three times',
    'a: 1\na: 2\na: 3\n',
    ['2:1 the key "a" is there already, in line 1', '3:1 the key "a" is there already, in line 1'],
  ],
  ['a tab', 'a:\n\tb: 1\n', ['2:1 a tab; YAML is indented with spaces']],
  ['two documents', 'a: 1\n---\nb: 2\n', ['2:1 a second document begins here; the file holds one']],
  ['an alias of nothing', 'a: *b\n', ['1:4 no anchor &b comes before *b']],
  ['an alias before its anchor', 'a: *b\nc: &b 1\n', ['1:4 no anchor &b comes before *b']],
  ['an alias within itself', 'a: &a [1, *a]', ['1:11 *a stands inside of what it stands for']],
  ['aliases of aliases of aliases', laughs, ['1:1 uses aliases more than 1000 times']],
  ['a key that is a list', '? [1]\n: x\n', ['1:3 a key has to be a word']],
  ['a tag', 'a: !secret x\n', ['1:4 Unresolved tag: !secret']],
  [
    'an open bracket',
    'a: [1, 2\n',
    ['2:1 Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ],
  ['far too many brackets', '['.repeat(1024 * 1024), ['1:65 nests deeper than 64 levels']],
  ['far too many braces', '{a: '.repeat(200_000), ['1:257 nests deeper than 64 levels']],
  ['far too many list marks', `a:\n${'- '.repeat(500_000)}`, ['2:129 nests deeper than 64 levels']],
]
for (const [name, text, faults] of broken) {
  t.test(`broken: ${name}`, t => {
    t.strictSame(faultsOf(text), faults)
    t.equal(new YamlSource(text).value, null)
    t.end()
  })
}

t.test('indented beyond measure', t => {
  const steps = Array.from({ length: 1400 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')
  t.ok(faultsOf(steps).length <= 1, 'is read, or refused in one sentence')
  t.end()
})

t.test('where values and keys begin', t => {
  const source = new YamlSource(
    [
      'top: 1', // 1
      'list:', // 2
      '  - [x, { deep: y }]', // 3
      '  - &shared', // 4
      '    key: value', // 5
      'again: *shared', // 6
      'empty:', // 7
      '"quoted key": { 1: one }', // 8
    ].join('\n'),
  )
  const places: readonly (readonly [path: Fault['path'], part: Fault['part'], place: string])[] = [
    [[], 'value', '1:1'],
    [['top'], 'key', '1:1'],
    [['top'], 'value', '1:6'],
    [['list'], 'value', '3:3'],
    [['list', 0], 'value', '3:5'],
    [['list', 0, 0], 'value', '3:6'],
    [['list', 0, 1, 'deep'], 'key', '3:11'],
    [['list', 0, 1, 'deep'], 'value', '3:17'],
    [['list', 1, 'key'], 'value', '5:10'],
    [['again', 'key'], 'value', '5:10'],
    [['again', 'key'], 'key', '5:5'],
    [['empty'], 'value', '7:1'],
    [['quoted key'], 'key', '8:1'],
    [['quoted key', '1'], 'value', '8:20'],
    [['list', 7, 'x'], 'value', '3:3'],
    [['none', 'x'], 'value', '1:1'],
    [['list', 0, 1, 'other'], 'key', '3:9'],
  ]
  for (const [path, part, place] of places) {
    const { line, column } = source.positionOf({ path, part })
    t.equal(`${line}:${column}`, place, `${part} of ${path.join('.')}`)
  }
  t.end()
})

t.test('many faults in one large mapping are found quickly', t => {
  const count = 20_000
  const source = new YamlSource(Array.from({ length: count }, (_, index) => `key${index}: 1\n`).join(''))
  const began = performance.now()
  for (let index = 0; index < count; index++)
    if (source.positionOf({ path: [`key${index}`], part: 'key' }).line !== index + 1) t.fail(`key${index}`)
  // Searching the mapping for each would take 200 million comparisons.
  t.ok(performance.now() - began < 5_000)
  t.end()
})

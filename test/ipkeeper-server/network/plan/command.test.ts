import t from 'tap'
import {
  linkWord,
  writeBatch,
  type Command,
  escapeIpJson,
} from '../../../../ipkeeper-server/network/plan/command.ts'

const command = (...words: readonly string[]): Command => ({ place: 'host', words, about: 'try' })

t.test('one line for each command', t => {
  t.equal(writeBatch([]), '')
  t.equal(
    writeBatch([command('link', 'set', 'dev', 'eth0', 'up'), command('route', 'add', '::/0')]),
    'link set dev eth0 up\nroute add ::/0\n',
  )
  t.end()
})

t.test('words', t => {
  for (const [word, written] of [
    ['eth0.5', 'eth0.5'],
    ['fd00:22::50/64', 'fd00:22::50/64'],
    ['a_b@if7', 'a_b@if7'],
    ['/proc/self/fd/3', '/proc/self/fd/3'],
    ['ipkeeper net c1 eth0', '"ipkeeper net c1 eth0"'],
  ] as const)
    t.equal(writeBatch([command('alias', word)]), `alias ${written}\n`)
  t.end()
})

t.test('what would end a word, a line or the batch is no word', t => {
  for (const word of [
    ...['', '"', 'a"b', "a'b", 'a\nb', 'eth0\n', 'a\rb', 'a\tb', 'a;b', 'a\\b', 'a#b', '$(id)', '`id`'],
    ...['a|b', 'a&b', 'a>b', 'a*', 'a\0b', 'größe', '\u2028'],
  ]) {
    t.throws(
      () => writeBatch([command('link', word)]),
      /cannot be a word of an ip batch/,
      encodeURIComponent(word),
    )
    if (word !== '')
      t.throws(() => writeBatch([command(`x ${word}`)]), /cannot be a word/, 'nor a part of one')
  }
  t.end()
})

t.test('a link by its name where that is a word', t => {
  for (const [name, word] of [
    ['eth0', 'eth0'],
    ['eth0.5', 'eth0.5'],
    ['a$b', 'if7'],
    ['a\u0001b', 'if7'],
    ['', 'if7'],
  ] as const)
    t.equal(linkWord({ name, index: 7 }), word)
  t.end()
})

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

import t from 'tap'
import { readBatchLines } from '../../../../ipkeeper-server/network/netlink/batch-lines.ts'
import { writeBatch } from '../../../../ipkeeper-server/network/plan/command.ts'

t.test('the words of each line', t => {
  for (const [input, expected] of [
    ['link set dev a up\n', [['link', 'set', 'dev', 'a', 'up']]],
    ['one two\nthree\n', [['one', 'two'], ['three']]],
    ['link set alias "ipkeeper shop web-0" up\n', [['link', 'set', 'alias', 'ipkeeper shop web-0', 'up']]],
    ['alias ""', [['alias', '']]],
    ['a "b c" "d e"\n', [['a', 'b c', 'd e']]],
  ] as const)
    t.strictSame(readBatchLines(input), expected, JSON.stringify(input))
  t.end()
})

t.test('what only ip understands', t => {
  for (const input of [
    '',
    '\n',
    'one\n\ntwo\n',
    'one # two\n',
    '# one\n',
    'one \\\ntwo\n',
    'one "two\n',
    'one"two"\n',
    '"one"two\n',
    "one 'two'\n" + '"',
  ])
    t.equal(readBatchLines(input), undefined, JSON.stringify(input))
  t.end()
})

t.test('what is written for ip is read', t => {
  const words = ['link', 'set', 'dev', 'ipk0123456789', 'alias', 'ipkeeper net/shop web-0 eth0', 'up']
  t.strictSame(readBatchLines(writeBatch([{ place: 'host', words, about: '' }])), [words])
  t.end()
})

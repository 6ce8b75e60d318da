import t from 'tap'
import { matchesPattern } from '../../../shared/text/matches-pattern.ts'

t.test('patterns', t => {
  const rows: readonly (readonly [pattern: string, name: string, matches: boolean])[] = [
    ['cali1', 'cali1', true],
    ['cali1', 'cali12', false],
    ['cali*', 'cali', true],
    ['cali*', 'xcali', false],
    ['*', 'anything', true],
    ['*1', 'cali1', true],
    ['*1', 'cali12', false],
    ['a*b*c', 'abc', true],
    ['a*b*c', 'axxbyyc', true],
    ['a*b*c', 'ac', false],
    ['a*a', 'a', false],
    ['a*a', 'aa', true],
    ['a**b', 'ab', true],
    ['v.th*', 'veth0', false],
  ]
  for (const [pattern, name, expected] of rows)
    t.equal(matchesPattern(pattern, name), expected, `${pattern} ${name}`)
  t.end()
})

import t from 'tap'
import { counted } from '../../../shared/text/counted.ts'

t.test('the noun agrees with its number', t => {
  const rows: readonly (readonly [count: number, one: string, many: string | undefined, text: string])[] = [
    [0, 'finding', undefined, '0 findings'],
    [1, 'finding', undefined, '1 finding'],
    [2, 'finding', undefined, '2 findings'],
    [1, 'history entry', 'history entries', '1 history entry'],
    [3, 'history entry', 'history entries', '3 history entries'],
  ]
  for (const [count, one, many, text] of rows) t.equal(counted(count, one, many), text)
  t.end()
})

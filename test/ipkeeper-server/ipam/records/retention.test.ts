import t from 'tap'
import {
  formatRetention,
  parseRetention,
  retains,
} from '../../../../ipkeeper-server/ipam/records/retention.ts'

t.test('retention rules', t => {
  for (const word of ['release', 'while-owner-exists', 'forever'] as const) {
    t.equal(parseRetention(word), word)
    t.equal(formatRetention(word), word)
    t.equal(retains(word), word !== 'release')
  }
  t.strictSame(parseRetention('30m'), { milliseconds: 1_800_000 })
  t.equal(formatRetention({ milliseconds: 1_800_000 }), '30m')
  t.ok(retains({ milliseconds: 1 }))
  for (const text of ['', 'Release', 'keep', 'forever ', '0s', '999999999d', 'toString'])
    t.equal(parseRetention(text), undefined, text)
  t.end()
})

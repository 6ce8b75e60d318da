import t from 'tap'
import { matchesSelector } from '../../../../ipkeeper-server/ipam/pools/pool-rules.ts'
import { parseSelector } from '../../../../ipkeeper-server/leases/queries/label-selector.ts'

t.test('which labels a selector fits', t => {
  const labels = { app: 'web', 'example.org/tier': 'front' }
  for (const [text, fits] of [
    ['app=web', true],
    ['app==web', true],
    ['app = web', true],
    ['app=db', false],
    ['app!=db', true],
    ['app!=web', false],
    ['zone!=a', true],
    ['app', true],
    ['zone', false],
    ['!zone', true],
    ['!app', false],
    ['app=', false],
    ['app in (db, web)', true],
    ['app in (db)', false],
    ['zone in (a)', false],
    ['app notin (db)', true],
    ['zone notin (a)', true],
    ['app notin (web)', false],
    ['app=web,example.org/tier in (front,back),!zone', true],
    ['app=web,zone', false],
  ] as const)
    t.equal(matchesSelector(parseSelector(text), labels), fits, text)
  t.end()
})

t.test('what is no selector', t => {
  for (const text of ['=web', 'app=web,', 'app in web', 'app in ()', 'a b', 'app=(x)', 'app>3', 'app in (x'])
    t.throws(() => parseSelector(text), { code: 'IPK_REQUEST_INVALID', message: /^selector "/ }, text)
  t.end()
})

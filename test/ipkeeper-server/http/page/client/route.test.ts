import t from 'tap'
import { formatRoute, parseRoute, type Route } from '../../../../../ipkeeper-server/http/page/client/route.ts'

t.test('routes and back', t => {
  const table: readonly [hash: string, route: Route][] = [
    ['#/prod', { pool: 'prod' }],
    ['#/prod?within=10.22.3.0%2F24', { pool: 'prod', within: '10.22.3.0/24' }],
    [
      '#/prod?within=10.22.3.0%2F24&address=10.22.3.50',
      { pool: 'prod', within: '10.22.3.0/24', address: '10.22.3.50' },
    ],
    ['#/prod?address=fd00%3A%3A1', { pool: 'prod', address: 'fd00::1' }],
    ['#/a%2Fb%3Fc%23d', { pool: 'a/b?c#d' }],
  ]
  for (const [hash, route] of table) {
    t.strictSame(parseRoute(hash), route, hash)
    t.equal(formatRoute(route), hash)
  }
  t.end()
})

t.test('what people type', t => {
  t.strictSame(parseRoute(''), {})
  t.strictSame(parseRoute('#'), {})
  t.strictSame(parseRoute('#/'), {})
  t.strictSame(parseRoute('#/prod?within=&address='), { pool: 'prod' })
  t.strictSame(parseRoute('#/%E0%A4%A'), {}, 'no valid escape')
  t.equal(parseRoute('#map'), undefined, 'a place within the page')
  t.end()
})

import t from 'tap'
import { isReadable } from '../../../../ipkeeper-server/http/page/page-requests.ts'

t.test('of the API there is what the page reads', t => {
  const readable = [
    '/v1/pools',
    '/v1/pools/prod/map',
    '/v1/pools/a%2Fb/freeing',
    '/v1/pools/prod/description',
    '/v1/addresses/default/fd00%3A%3A1',
    '/v1/history',
    '/v1/search',
    '/v1/pools/use',
    '/v1/audit',
  ]
  const other = [
    '/v1/cni/add',
    '/v1/status',
    '/v1/leases',
    '/v1/reservations',
    '/v1/addresses/default/10.22.0.50/release',
    '/v1/pools/prod',
    '/v1/pools/a/b/map',
    '/v1/pools/a/b/description',
    '/v1/openapi.json',
    '/metrics',
    '//v1/pools',
    '/v1/pools/../cni/add',
  ]
  for (const path of readable) t.ok(isReadable(path), path)
  for (const path of other) t.notOk(isReadable(path), path)
  t.end()
})

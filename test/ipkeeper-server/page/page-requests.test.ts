import t from 'tap'
import { isOfOthers, isOurHost, isReadable } from '../../../ipkeeper-server/page/page-requests.ts'

t.test('the page is known by the names of loopback alone', t => {
  const table: readonly [host: string | undefined, ours: boolean][] = [
    ['127.0.0.1:7480', true],
    ['127.0.0.1', true],
    ['127.1.2.3:7480', true],
    ['localhost:8080', true],
    ['LOCALHOST', true],
    ['[::1]:7480', true],
    [undefined, false],
    ['', false],
    ['evil.example:7480', false],
    ['127.0.0.1.evil.example:7480', false],
    ['localhost.evil.example', false],
    ['10.0.0.1:7480', false],
    ['[::2]:7480', false],
    ['127.0.0.1:7480@evil.example', false],
    ['evil.example#127.0.0.1', false],
    ['127.0.0.1:port', false],
  ]
  for (const [host, ours] of table) t.equal(isOurHost(host), ours, String(host))
  t.end()
})

t.test('other sites may not ask, people may follow links', t => {
  const table: readonly [what: string, headers: Record<string, string>, others: boolean][] = [
    ['no browser', {}, false],
    ['the page itself', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }, false],
    ['an address that was typed', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }, false],
    [
      'a link',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      false,
    ],
    [
      'a frame',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      true,
    ],
    ['a script of another site', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, true],
    ['a script of another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }, true],
  ]
  for (const [what, headers, others] of table) t.equal(isOfOthers(headers), others, what)
  t.end()
})

t.test('of the API there is what the page reads', t => {
  const readable = [
    '/v1/pools',
    '/v1/pools/prod/map',
    '/v1/pools/a%2Fb/freeing',
    '/v1/addresses/default/fd00%3A%3A1',
    '/v1/history',
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
    '/v1/openapi.json',
    '/metrics',
    '//v1/pools',
    '/v1/pools/../cni/add',
  ]
  for (const path of readable) t.ok(isReadable(path), path)
  for (const path of other) t.notOk(isReadable(path), path)
  t.end()
})

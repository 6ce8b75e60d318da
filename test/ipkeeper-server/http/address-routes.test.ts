import t from 'tap'
import type { HistoryReply } from '../../../shared/api/address.schema.ts'
import type { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { openLeaseApp } from '../../rigs/served-leases.ts'

t.test('a release is logged, with who had the address', async t => {
  const { story, app, log } = await openLeaseApp(t)
  await story.add({ pod: 'a', container: 'c1', ip: '10.22.0.50', retain: 'forever' })
  await story.del('c1')
  const reply = await app.inject({ method: 'POST', url: '/v1/addresses/default/10.22.0.50/release' })
  t.equal(reply.statusCode, 200)
  t.match(log, [
    {
      ...{
        level: 30,
        msg: 'released',
        address: '10.22.0.50',
        segment: 'default',
        state: 'held',
        until: null,
      },
      pod: { namespace: 'shop', name: 'a' },
    },
  ])
})

t.test('the history takes its defaults: segment default, fifty tenures', async t => {
  const { story, app } = await openLeaseApp(t)
  for (let index = 0; index < 30; index++) {
    await story.add({ pod: 'a', container: `c${index}`, ip: '10.22.0.50' })
    await story.del(`c${index}`)
  }
  const lengthOf = async (query: string): Promise<number> => {
    const reply = await app.inject({ url: `/v1/history?address=10.22.0.50${query}` })
    return reply.json<HistoryReply>().history.length
  }
  t.equal(await lengthOf(''), 50)
  t.equal(await lengthOf('&segment=default&limit=1000'), 60)
  t.equal(await lengthOf('&segment=lab'), 0)
})

t.test('an IPv6 address in a path', async t => {
  const { app } = await openLeaseApp(t)
  for (const text of ['fd00:22::50', 'FD00%3A22%3A%3A50'])
    t.match((await app.inject({ url: `/v1/addresses/default/${text}` })).json(), { address: 'fd00:22::50' })
})

t.test('refused, with a code and a remedy', async t => {
  const { app } = await openLeaseApp(t)
  for (const [method, url, status, code] of [
    ['GET', '/v1/history', 400, 'IPK_REQUEST_INVALID'],
    ['GET', '/v1/history?address=', 400, 'IPK_REQUEST_INVALID'],
    ['GET', '/v1/history?address=10.22.0.050', 400, 'IPK_ADDRESS_INVALID'],
    ['GET', '/v1/history?address=10.22.0.5&segment=No', 400, 'IPK_REQUEST_INVALID'],
    ['GET', '/v1/history?address=10.22.0.5&limit=0', 400, 'IPK_REQUEST_INVALID'],
    ['GET', '/v1/history?address=10.22.0.5&limit=1001', 400, 'IPK_REQUEST_INVALID'],
    ['GET', '/v1/history?address=10.22.0.5&before=x', 400, 'IPK_REQUEST_INVALID'],
    ['GET', '/v1/history?address=10.22.0.5&adress=1', 400, 'IPK_REQUEST_INVALID'],
    ['GET', '/v1/addresses/default/web-0', 400, 'IPK_ADDRESS_INVALID'],
    ['GET', '/v1/addresses/default/..%2f..', 400, 'IPK_ADDRESS_INVALID'],
    ['GET', '/v1/addresses/No/10.22.0.5', 400, 'IPK_REQUEST_INVALID'],
    ['GET', `/v1/addresses/default/${'1'.repeat(65)}`, 400, 'IPK_REQUEST_INVALID'],
    ['POST', '/v1/addresses/default/10.22.0.5/release', 404, 'IPK_ADDRESS_FREE'],
    ['POST', '/v1/addresses/default/x/release', 400, 'IPK_ADDRESS_INVALID'],
    ['GET', '/v1/addresses/default/10.22.0.5/release', 404, 'IPK_ROUTE_UNKNOWN'],
  ] as const) {
    const reply = await app.inject({ method, url })
    const { code: given, hint } = reply.json<ErrorReply>()
    t.strictSame([reply.statusCode, given], [status, code], `${method} ${url}`)
    t.ok(hint)
  }
})

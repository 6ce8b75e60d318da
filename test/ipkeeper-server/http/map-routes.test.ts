import { Ajv } from 'ajv'
import t from 'tap'
import { reserve } from '../../../ipkeeper-server/leases/verbs/reserve.ts'
import { FreeingReply, PoolMapReply } from '../../../shared/api/map.schema.ts'
import { PoolUseReply } from '../../../shared/api/pool-use.schema.ts'
import { SearchReply } from '../../../shared/api/search.schema.ts'
import { poolFrom, TestService } from '../leases/test-service.ts'
import { openLeaseApp } from '../../rigs/served-leases.ts'

const ajv = new Ajv({ formats: { 'date-time': true } })

t.test('maps and lists are of their schemas, and refusals have a code', async t => {
  const { story, app } = await openLeaseApp(t)
  story.pool = poolFrom('a/b', ['10.22.0.0/16'], ['fd00:22::/64'])
  await story.add({ pod: 'a', container: 'c1' })
  await story.add({ pod: 'b', container: 'c2' })
  await story.del('c2')
  const pool = '/v1/pools/a%2Fb'
  const table: readonly [url: string, status: number, within: string][] = [
    [`${pool}/map`, 200, '10.22.0.0/16'],
    [`${pool}/map?within=10.22.0.0/24`, 200, '10.22.0.0/24'],
    [`${pool}/map?around=10.22.9.9`, 200, '10.22.9.0/24'],
    [`${pool}/map?within=fd00%3A22%3A%3A%2F64`, 200, 'fd00:22::/64'],
    [`${pool}/map?around=fd00%3A22%3A%3A1`, 200, 'fd00:22::/120'],
    [`${pool}/map?within=10.99.0.0/24`, 400, 'IPK_REQUEST_INVALID'],
    [`${pool}/map?nonsense=1`, 400, 'IPK_REQUEST_INVALID'],
    ['/v1/pools/none/map', 400, 'IPK_POOL_UNKNOWN'],
    [`${pool}/freeing?limit=0`, 400, 'IPK_REQUEST_INVALID'],
    [`${pool}/freeing?limit=101`, 400, 'IPK_REQUEST_INVALID'],
    ['/v1/pools/none/freeing', 400, 'IPK_POOL_UNKNOWN'],
  ]
  // All at once: they have their turns.
  const replies = await Promise.all(table.map(([url]) => app.inject({ url })))
  for (const [index, [url, status, what]] of table.entries()) {
    const reply = replies[index]
    t.equal(reply?.statusCode, status, url)
    const body = reply?.json<Record<string, unknown>>()
    t.equal(body?.['within'] ?? body?.['code'], what, url)
    if (status === 200) t.ok(ajv.validate(PoolMapReply, body), ajv.errorsText())
  }
  const many = await Promise.all(Array.from({ length: 100 }, () => app.inject({ url: `${pool}/map` })))
  t.strictSame(
    many.map(({ statusCode }) => statusCode),
    [...Array<number>(64).fill(200), ...Array<number>(36).fill(503)],
    'the queue has an end',
  )
  t.match(many[99]?.json(), { code: 'IPK_BUSY', retryable: true })
  const freeing = await app.inject({ url: `${pool}/freeing` })
  t.ok(ajv.validate(FreeingReply, freeing.json()), ajv.errorsText())
  t.match(freeing.json(), { freeing: [{ address: '10.22.0.3' }, { address: 'fd00:22::3' }], more: 0 })
})

t.test('how full pools were, by family, and when they will be full', async t => {
  const story = await TestService.open()
  const day = 86_400_000
  const past = [3, 2, 1].map(ago => ({ at: story.now - ago * day, used: 3 - ago, held: 0 }))
  const service = {
    ...story.service,
    useSamples: ({ family }: { readonly family: number }) => (family === 4 ? past : []),
  }
  const { app } = await openLeaseApp(t, { story, parts: { service } })
  story.pool = poolFrom('net', ['10.22.0.0/28'], ['fd00:22::/64'])
  for (const pod of ['a', 'b', 'c']) await story.add({ pod, container: pod })
  const reply = await app.inject({ url: '/v1/pools/use' })
  const body = reply.json<PoolUseReply>()
  t.ok(ajv.validate(PoolUseReply, body), ajv.errorsText())
  t.match(body.use, [
    { name: 'net', family: 'IPv4', capacity: 13, free: 10 },
    { name: 'net', family: 'IPv6', forecast: { fullAt: null, says: /^not known yet: 1 sample/ } },
  ])
  t.strictSame(
    body.use[0]?.samples.map(({ used }) => used),
    [0, 1, 2, 3],
  )
  t.strictSame(body.use[0]?.forecast, {
    fullAt: new Date(story.now + 10 * day).toISOString(),
    says: 'it grew by 1 address a day in the last 3d',
  })
})

t.test('whatever is known of a pod finds its addresses', async t => {
  const { story, app } = await openLeaseApp(t)
  story.pool = poolFrom('net', ['10.22.0.0/24'])
  for (const index of [1, 2, 3]) await story.add({ pod: `web-${index}`, container: `c${index}abc` })
  await story.add({ pod: 'job', namespace: 'ops', container: 'd1', ip: '10.22.0.9' })
  await reserve(story.service, {
    segment: 'default',
    address: '10.22.0.200',
    owner: 'shop/db-0',
    note: 'Disk',
  })
  const search = async (query: Record<string, string>): Promise<SearchReply> => {
    const reply = (await app.inject({ url: '/v1/search', query })).json<SearchReply>()
    t.ok(ajv.validate(SearchReply, reply), ajv.errorsText())
    return reply
  }
  const addresses = ({ leases, reservations, more }: SearchReply) => [
    ...[...leases, ...reservations].map(({ address }) => address),
    ...(more === undefined ? [] : [more]),
  ]
  const table: readonly [query: Record<string, string>, found: readonly unknown[]][] = [
    [{ text: 'WEB' }, ['10.22.0.2', '10.22.0.3', '10.22.0.4']],
    [{ text: 'web', limit: '2' }, ['10.22.0.2', '10.22.0.3', 1]],
    [{ text: 'shop/web-2' }, ['10.22.0.3']],
    [{ text: ' ops ' }, ['10.22.0.9']],
    [{ text: 'c3a' }, ['10.22.0.4']],
    [{ text: '3ab' }, []],
    [{ text: '0.9' }, ['10.22.0.9']],
    [{ text: 'disk' }, ['10.22.0.200']],
    [{ text: 'db-0' }, ['10.22.0.200']],
    [{ text: 'N1' }, ['10.22.0.2', '10.22.0.3', '10.22.0.4', '10.22.0.9']],
    [{ text: 'n' }, []],
    [{ text: 'leased' }, ['10.22.0.2', '10.22.0.3', '10.22.0.4', '10.22.0.9']],
    [{ text: 'held' }, []],
    [{ text: 'Reserved' }, ['10.22.0.200']],
    [{ text: 'nobody' }, []],
  ]
  for (const [query, found] of table)
    t.strictSame(addresses(await search(query)), found, JSON.stringify(query))
  t.match(await search({ text: 'db-0' }), { reservations: [{ pool: 'net' }] })
  for (const url of [
    '/v1/search',
    '/v1/search?text=',
    '/v1/search?text=a&limit=101',
    '/v1/search?owner=a/b/c/d',
  ])
    t.equal((await app.inject({ url })).statusCode, 400, url)
  story.now += 11 * 60_000
  await story.del('d1')
  story.now += 11 * 60_000
  t.strictSame(addresses(await search({ text: 'ops' })), [], 'what came free is not found')
})

import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { Ajv } from 'ajv'
import t, { type Test } from 'tap'
import { EventStream } from '../../../../ipkeeper-server/http/page/event-stream.ts'
import { PageListener } from '../../../../ipkeeper-server/http/page/page-listener.ts'
import { ChangeEvent, HelloEvent } from '../../../../shared/api/event.schema.ts'
import { freePort } from '../../../rigs/free-port.ts'
import { until } from '../../../rigs/poll.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const host = '127.0.0.1'
const hello = { node: 'n1', version: '1.2.3', startedAt: '2026-01-01T00:00:00.000Z' }
const files = { '/': { type: 'text/html; charset=utf-8', text: '<!doctype html>' } }

async function openListener(t: Test, options: { quiet?: number; beat?: number; readers?: number } = {}) {
  const port = await freePort()
  const listener = new PageListener()
  await listener.listen({ host, port })
  t.teardown(() => listener.close())
  const events = new EventStream({ hello, quiet: 5, ...options })
  const asked: string[] = []
  const errors: unknown[] = []
  const serve = (): void => {
    listener.serve({
      ...{ files, events },
      ask: url => {
        asked.push(url)
        if (url === '/v1/audit') return Promise.reject(new Error('broken'))
        return Promise.resolve({ status: url.includes('nobody') ? 400 : 200, body: '{"x":1}' })
      },
      onError: error => errors.push(error),
    })
  }
  const ask = async (
    method: string,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ status: number | undefined; body: string; headers: IncomingMessage['headers'] }> => {
    const sent = request({ host, port, method, path, headers, agent: false })
    sent.end()
    const [reply] = (await once(sent, 'response')) as [IncomingMessage]
    let body = ''
    for await (const chunk of reply) body += String(chunk)
    return { status: reply.statusCode, body, headers: reply.headers }
  }
  return { port, listener, events, asked, errors, serve, ask }
}

t.test('answers what the page reads, and refuses everything else with a reason', async t => {
  const { serve, ask, asked, errors } = await openListener(t)
  t.match(await ask('GET', '/'), { status: 503, body: /starting/ })
  serve()
  const table: readonly [method: string, path: string, status: number, body: RegExp][] = [
    ['GET', '/', 200, /^<!doctype html>$/],
    ['HEAD', '/', 200, /^$/],
    ['GET', '/v1/pools', 200, /^\{"x":1\}$/],
    ['GET', '/v1/pools/nobody/map?within=x', 400, /^\{"x":1\}$/],
    ['GET', '/v1/audit', 500, /see its log/],
    ['POST', '/v1/pools', 405, /nothing can be changed/],
    ['DELETE', '/v1/reservations/default/10.22.0.50', 405, /only GET and HEAD/],
    ['OPTIONS', '/v1/pools', 405, /only GET and HEAD/],
    ['GET', '/v1/leases', 404, /unix socket/],
    ['GET', '/v1/cni/add', 404, /unix socket/],
    ['GET', '/__proto__', 404, /unix socket/],
    ['GET', '/toString', 404, /unix socket/],
    ['GET', '/v1/addresses/../status', 404, /unix socket/],
    ['GET', '/v1/addresses/%2e%2E/leases', 404, /unix socket/],
    ['GET', '/v1/pools/./map', 404, /unix socket/],
    ['GET', '//v1/pools', 404, /unix socket/],
    ['GET', 'http://[/v1/pools', 400, /not a valid url/],
  ]
  for (const [method, path, status, body] of table)
    t.match(await ask(method, path), { status, body }, `${method} ${path}`)
  t.strictSame(asked, ['/v1/pools', '/v1/pools/nobody/map?within=x', '/v1/audit'])
  t.match(errors, [{ message: 'broken' }])
})

t.test('under another name, or for another site, nothing is answered', async t => {
  const { serve, ask, asked } = await openListener(t)
  serve()
  t.match(await ask('GET', '/v1/pools', { host: 'evil.example:7480' }), { status: 421 })
  t.match(await ask('GET', '/', { host: 'evil.example' }), { status: 421 })
  t.match(await ask('GET', '/v1/events', { host: 'evil.example' }), { status: 421 })
  t.match(await ask('GET', '/v1/pools', { 'sec-fetch-site': 'cross-site' }), { status: 403 })
  t.strictSame(asked, [])
  t.match(await ask('GET', '/v1/pools', { host: 'localhost:9999' }), { status: 200 }, 'through a tunnel')
})

t.test('every answer protects the reader', async t => {
  const { serve, ask } = await openListener(t)
  serve()
  for (const path of ['/', '/v1/pools', '/nothing']) {
    const { headers } = await ask('GET', path, { origin: 'http://evil.example' })
    const policy = headers['content-security-policy'] ?? ''
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
    ])
      t.ok(String(policy).includes(part), `${path}: ${part}`)
    t.notMatch(policy, /unsafe|\*|http/)
    t.match(headers, {
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
    })
    t.notOk(
      Object.keys(headers).some(name => name.startsWith('access-control')),
      'no other site reads it',
    )
  }
})

/** A reader of the events; `text` is what has come so far. */
async function follow(t: Test, port: number) {
  const sent = request({ host, port, path: '/v1/events', agent: false })
  sent.end()
  sent.on('error', () => undefined)
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  const reader = { status: reply.statusCode, text: '', ended: false, end: () => sent.destroy() }
  reply.on('data', (chunk: Buffer) => (reader.text += chunk.toString()))
  reply.on('close', () => (reader.ended = true))
  reply.on('error', () => undefined)
  t.teardown(reader.end)
  return reader
}

t.test('changes are told together, to everybody who reads', async t => {
  const { serve, events, port } = await openListener(t)
  serve()
  events.changed('early')
  const readers = [await follow(t, port), await follow(t, port)]
  for (const reader of readers) await until('hello', () => reader.text.includes('event: hello'))
  t.match(
    readers[0]?.text,
    'data: {"node":"n1","version":"1.2.3","startedAt":"2026-01-01T00:00:00.000Z","beatSeconds":10}',
  )
  for (const pool of ['a', 'b', 'a']) events.changed(pool)
  events.found()
  for (const reader of readers) {
    await until('change', () => reader.text.includes('findings'))
    t.match(reader.text, 'event: change\ndata: {"pools":["a","b"]}\n\nevent: findings\ndata: {}\n\n')
    t.notMatch(reader.text, 'early')
  }
  const told = Array.from(
    readers[0]?.text.matchAll(/^event: (\w+)\ndata: (.*)$/gm) ?? [],
    ([, name = '', data = '']) => [name, JSON.parse(data)] as const,
  )
  const ajv = new Ajv({ formats: { 'date-time': true } })
  t.ok(ajv.validate(HelloEvent, told.find(([name]) => name === 'hello')?.[1]), ajv.errorsText())
  t.ok(ajv.validate(ChangeEvent, told.find(([name]) => name === 'change')?.[1]), ajv.errorsText())
  for (let index = 0; index < 100; index++) events.changed(`p${index}`)
  await until('everything', () => readers[0]?.text.includes('{"pools":null}') === true)
})

t.test('while nobody reads nothing is kept, and no timer runs', async t => {
  const { serve, events, port } = await openListener(t, { beat: 20 })
  serve()
  const reader = await follow(t, port)
  await until('beat', () => reader.text.includes('event: beat'))
  events.changed('a')
  reader.end()
  await until('gone', () => events.readers === 0)
  const timers = process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length
  events.changed('b')
  t.equal(process.getActiveResourcesInfo().filter(kind => kind === 'Timeout').length, timers)
})

t.test('readers are few, and one who does not read is let go', async t => {
  const { serve, events, port, ask } = await openListener(t, { readers: 2 })
  serve()
  const quick = await follow(t, port)
  const idle = connect({ host, port })
  t.teardown(() => idle.destroy())
  idle.on('error', () => undefined)
  idle.write('GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  idle.pause()
  await until('both', () => events.readers === 2)
  t.match(await ask('GET', '/v1/events'), { status: 503, body: /too many/ })
  const long = 'x'.repeat(100_000)
  await until(
    'the idle one is gone',
    () => {
      events.changed(long)
      return events.readers === 1
    },
    30_000,
  )
  t.equal(quick.ended, false)
  t.equal(quick.status, 200)
})

t.test('who reads events does not keep the daemon from ending', async t => {
  const { serve, listener, port } = await openListener(t)
  serve()
  const reader = await follow(t, port)
  await listener.close()
  await until('it ends', () => reader.ended)
})

t.test('an address that cannot be had is told with the key', async t => {
  const { port } = await openListener(t)
  t.match(await thrownProblem(() => new PageListener().listen({ host, port })), {
    code: 'IPK_PAGE_LISTEN',
    message: `page.listen: another program listens on 127.0.0.1:${port}`,
    hint: /ss -ltnp/,
  })
})

import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { MetricsListener } from '../../../ipkeeper-server/http/metrics-listener.ts'
import { until } from '../../rigs/poll.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

const host = '127.0.0.1'

/** A port that nobody has at this moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen({ host, port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function listen(
  t: Test,
  tokenFile?: string,
): Promise<{ readonly listener: MetricsListener; readonly port: number }> {
  const port = await freePort()
  const listener = new MetricsListener(tokenFile)
  await listener.listen({ host, port })
  t.teardown(() => listener.close())
  return { listener, port }
}

const page = { contentType: 'text/plain; version=0.0.4; charset=utf-8', text: 'up 1\n' }
const noError = (): void => undefined

/** What comes back until the server closes the connection. */
async function sends(port: number, text: string): Promise<string> {
  const socket = connect({ host, port })
  let reply = ''
  socket.on('data', (chunk: Buffer) => (reply += chunk.toString()))
  socket.on('error', noError)
  socket.write(text)
  await once(socket, 'close')
  return reply
}

t.test('serves one page, and refuses everything else with a reason', async t => {
  const { listener, port } = await listen(t)
  const url = `http://${host}:${port}`
  const early = await fetch(`${url}/metrics`)
  t.equal(early.status, 503)
  t.match(await early.text(), /starting/)
  listener.serve(() => Promise.resolve(page), noError)
  const table: readonly [method: string, path: string, status: number, body: string | RegExp][] = [
    ['GET', '/metrics', 200, page.text],
    ['GET', '/metrics?name=x', 200, page.text],
    ['HEAD', '/metrics', 200, ''],
    ['POST', '/metrics', 405, /only GET and HEAD/],
    ['DELETE', '/metrics', 405, /only GET and HEAD/],
    ['OPTIONS', '/metrics', 405, /only GET and HEAD/],
    ['GET', '/', 404, /unix socket/],
    ['GET', '/metrics/', 404, /unix socket/],
    ['GET', '/v1/leases', 404, /unix socket/],
    ['GET', '/v1/status', 404, /unix socket/],
    ['POST', '/v1/cni/add', 404, /unix socket/],
  ]
  for (const [method, path, status, body] of table) {
    const reply = await fetch(url + path, { method, ...(method === 'POST' && { body: 'x'.repeat(100_000) }) })
    t.equal(reply.status, status, `${method} ${path}`)
    t.match(await reply.text(), body)
    if (status === 200) t.equal(reply.headers.get('content-type'), page.contentType)
    if (status === 405) t.equal(reply.headers.get('allow'), 'GET, HEAD')
  }
})

t.test('a page that cannot be made is an error with a body, and the next one is served', async t => {
  const { listener, port } = await listen(t)
  const errors: unknown[] = []
  let broken = true
  listener.serve(
    () => (broken ? Promise.reject(new Error('disk full at /secret')) : Promise.resolve(page)),
    error => errors.push(error),
  )
  const reply = await fetch(`http://${host}:${port}/metrics`)
  t.equal(reply.status, 500)
  t.notMatch(await reply.text(), /secret/)
  t.equal(errors.length, 1)
  broken = false
  t.equal((await fetch(`http://${host}:${port}/metrics`)).status, 200)
})

t.test('what is no HTTP, or too long, is answered and closed', async t => {
  const { listener, port } = await listen(t)
  listener.serve(() => Promise.resolve(page), noError)
  t.match(await sends(port, 'rubbish\r\n\r\n'), /^HTTP\/1\.1 400 /)
  const long = `GET /metrics HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(9_000)}\r\n\r\n`
  t.match(await sends(port, long), /^HTTP\/1\.1 431 /)
})

t.test('no more connections than it can use', async t => {
  const { listener, port } = await listen(t)
  listener.serve(() => Promise.resolve(page), noError)
  const sockets = Array.from({ length: 40 }, () => connect({ host, port }))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  let closed = 0
  for (const socket of sockets) socket.on('error', noError).on('close', () => closed++)
  await until('the surplus is closed', () => closed === 24)
  for (const socket of sockets) socket.destroy()
  await until('all are closed', () => closed === 40)
  const answered = async (): Promise<boolean> =>
    (await fetch(`http://${host}:${port}/metrics`).catch(() => undefined))?.status === 200
  await until('there is room again', answered)
})

t.test('a port in use says how to see whose it is; so does an address that is not here', async t => {
  const { port } = await listen(t)
  t.match(await thrownProblem(() => new MetricsListener().listen({ host, port })), {
    code: 'IPK_METRICS_LISTEN',
    message: `metrics.listen: another program listens on ${host}:${port}`,
    hint: new RegExp(`ss -ltnp 'sport = :${port}'`),
  })
  t.match(await thrownProblem(() => new MetricsListener().listen({ host: '192.0.2.1', port })), {
    code: 'IPK_METRICS_LISTEN',
    message: `metrics.listen: cannot listen on 192.0.2.1:${port} (EADDRNOTAVAIL)`,
  })
})

t.test('with a token: for who shows it, under whatever name', async t => {
  const folder = tempFolder(t)
  const file = folder.file('token')
  const { listener, port } = await listen(t, file)
  const errors: unknown[] = []
  listener.serve(
    () => Promise.resolve(page),
    error => errors.push(error),
  )
  const asks = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`http://${host}:${port}${path}`, { headers })
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const [first, second] = ['0123456789abcdef', 'fedcba9876543210']

  t.equal((await asks('/metrics', bearer(first))).status, 503, 'no file yet')
  writeFileSync(file, 'short\n')
  t.equal((await asks('/metrics', bearer('short'))).status, 503, 'a token that can be guessed')
  t.match(errors, [{ code: 'ENOENT' }, /has no token of at least 16 characters/])

  writeFileSync(file, `${first}\n`)
  const rows: readonly (readonly [headers: Readonly<Record<string, string>>, status: number])[] = [
    [bearer(first), 200],
    [{ authorization: `bearer ${first}` }, 200],
    [{ ...bearer(first), 'sec-fetch-site': 'cross-site' }, 200],
    [{}, 401],
    [bearer(second), 401],
    [bearer(`${first} x`), 401],
    [{ authorization: `Basic ${first}` }, 401],
  ]
  for (const [headers, status] of rows) {
    const reply = await asks('/metrics', headers)
    t.equal(reply.status, status, JSON.stringify(headers))
    if (status === 401) t.equal(reply.headers.get('www-authenticate'), 'Bearer')
  }
  t.match(
    await sends(
      port,
      `GET /metrics HTTP/1.1\r\nhost: worker-1\r\nauthorization: Bearer ${first}\r\nconnection: close\r\n\r\n`,
    ),
    /^HTTP\/1\.1 200 /,
  )
  t.equal((await asks('/v1/leases', bearer(first))).status, 404, 'and nothing but metrics')
  t.equal((await asks('/v1/leases')).status, 401)

  writeFileSync(file, second)
  t.equal((await asks('/metrics', bearer(first))).status, 401, 'one that was replaced no longer counts')
  t.equal((await asks('/metrics', bearer(second))).status, 200)
})

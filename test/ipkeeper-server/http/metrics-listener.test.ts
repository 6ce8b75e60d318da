import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { MetricsListener } from '../../../ipkeeper-server/http/metrics-listener.ts'
import { until } from '../../rigs/poll.ts'
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

async function listen(t: Test): Promise<{ readonly listener: MetricsListener; readonly port: number }> {
  const port = await freePort()
  const listener = new MetricsListener()
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

import { connect } from 'node:net'
import type { InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import { listenUnix } from '../../../ipkeeper-server/http/listen-unix.ts'
import type { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { openLeaseApp } from '../../rigs/served-leases.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

/** The application on a node that throws when it is to look at a namespace. */
const throwingApp = (t: Test, thrown: unknown = new Error('not asked')) =>
  openLeaseApp(t, {
    node: {
      namespaceAt: () => {
        throw thrown
      },
    },
  })

const add = {
  containerId: 'c1',
  netns: '/run/netns/x',
  ifname: 'eth0',
  args: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0',
  path: '/opt/cni/bin',
  config: { cniVersion: '1.0.0', name: 'net', type: 'bridge', ipam: { subnet: '10.22.0.0/24' } },
}

const shape = ['cniCode', 'code', 'details', 'hint', 'message', 'requestId', 'retryable', 'stateDir']

t.test(
  'a bug is IPK_INTERNAL with its text; the log has the stack, the container and the same request',
  async t => {
    const { app, log } = await throwingApp(t, new TypeError('x is not a function'))
    const reply = await app.inject({ method: 'POST', url: '/v1/cni/add', payload: add })
    t.equal(reply.statusCode, 500)
    const body = reply.json<ErrorReply>()
    t.strictSame(Object.keys(body).sort(), shape)
    t.match(body, {
      code: 'IPK_INTERNAL',
      message: 'internal error: x is not a function',
      stateDir: '/state',
    })
    t.match(body.requestId, /^[0-9a-f]{12}$/)
    t.equal(log.length, 1, 'once')
    t.match(log[0], {
      reqId: body.requestId,
      verb: 'add',
      containerId: 'c1',
      pod: 'shop/web-0',
      code: 'IPK_INTERNAL',
      err: { type: 'TypeError', stack: /problem-reply\.test/ },
      msg: 'internal error: x is not a function',
    })
  },
)

t.test('what is thrown that is no Error', async t => {
  const { app } = await throwingApp(t, 'just a text')
  const reply = await app.inject({ method: 'POST', url: '/v1/cni/add', payload: add })
  t.match(reply.json(), { code: 'IPK_INTERNAL', message: 'internal error: just a text' })
})

t.test('a refusal is a warning with hint and details, without a stack', async t => {
  const refusal = new Problem('IPK_POOL_FULL', 'full', { details: 'five of five' })
  const { app, log } = await throwingApp(t, refusal)
  const reply = await app.inject({ method: 'POST', url: '/v1/cni/add', payload: add })
  t.equal(reply.statusCode, 409)
  t.match(reply.json(), { code: 'IPK_POOL_FULL', message: 'full', details: 'five of five', retryable: true })
  t.match(log, [{ level: 40, code: 'IPK_POOL_FULL', hint: /enlarge/, details: 'five of five', msg: 'full' }])
  t.notOk('err' in log[0]!)
})

t.test('what Fastify refuses has our shape as well', async t => {
  const { app } = await throwingApp(t)
  const post = (payload: string, type = 'application/json'): InjectOptions => ({
    ...{ method: 'POST', url: '/v1/cni/add', payload },
    headers: { 'content-type': type },
  })
  const overlong = `/v1/reservations/default/${'9'.repeat(200)}`
  for (const [name, request, message] of [
    ['too large', post(`"${'x'.repeat(18 * 1024 * 1024)}"`), /too large/],
    ['no JSON', post('{"a":'), /JSON/],
    ['another type', post('<a/>', 'application/xml'), /media type/i],
    ['no body', post(''), /empty/i],
    ['a bad path', { method: 'GET', url: '/v1/%zz' }, /'\/v1\/%zz' is not a valid url component/],
    ['an overlong part', { method: 'DELETE', url: overlong }, /length/],
  ] as const) {
    const reply = await app.inject(request)
    t.equal(reply.statusCode, 400, name)
    const body = reply.json<ErrorReply>()
    t.strictSame(Object.keys(body).sort(), shape, name)
    t.equal(body.code, 'IPK_REQUEST_INVALID')
    t.match(body.message, message, name)
  }
})

t.test('what Node refuses before there is a request has it too', async t => {
  const { app } = await throwingApp(t)
  const folder = tempFolder(t)
  await listenUnix(app, folder.file('s'))
  for (const [name, text] of [
    ['no HTTP', 'HELLO\r\n\r\n'],
    ['another version', 'GET / HTTP/9.9\r\n\r\n'],
    ['headers that are too long', `GET /v1/health HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['a length that is none', 'POST /v1/cni/add HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n'],
  ] as const) {
    const reply = await new Promise<string>((resolve, reject) => {
      let received = ''
      const socket = connect(folder.file('s'))
      socket.on('data', chunk => (received += chunk.toString()))
      socket.on('error', reject)
      // The daemon closes: a client that cannot speak HTTP is not listened to any longer.
      socket.on('close', () => {
        resolve(received)
      })
      socket.write(text)
    })
    const [head = '', body = ''] = reply.split('\r\n\r\n')
    t.match(head, /^HTTP\/1\.1 400 Bad Request/, name)
    t.equal(Number(/content-length: (\d+)/i.exec(head)?.[1]), Buffer.byteLength(body), name)
    const document = JSON.parse(body) as ErrorReply
    t.strictSame(Object.keys(document).sort(), shape, name)
    t.match(document, { code: 'IPK_REQUEST_INVALID', message: /^request refused: / })
  }
  t.equal(app.server.listening, true)
})

t.test('a problem within a reply has the shape of one in the API', async t => {
  const { app } = await throwingApp(t)
  const text = (await app.inject({ url: '/v1/openapi.json' })).body
  // Two of the configuration, one of the ledger's file, one of a part.
  const shape =
    /"(?:problem|fault|copy)":\{(?:"description":"[^"]*",)?"type":"object","required":\["code","message","hint"/g
  t.equal([...text.matchAll(shape)].length, 4)
})

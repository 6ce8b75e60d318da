import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { ApiClient, type ApiSecrets } from '../../../ipkeeper-server/kubernetes/api-client.ts'
import { ApiError } from '../../../ipkeeper-server/kubernetes/api-error.ts'
import { until } from '../../rigs/poll.ts'
import { missing } from '../../rigs/requirements.ts'
import {
  accessTo,
  failure,
  json,
  startScriptedApi,
  startScriptedClient,
  type Script,
} from '../../rigs/scripted-api.ts'
import { makeServerCertificate } from '../../rigs/server-certificate.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

async function thrown(run: Promise<unknown>): Promise<ApiError> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof ApiError) return error
  throw new Error(`no ApiError: ${String(error)}`)
}

t.test('what is asked, and by whom', async t => {
  const { api, client } = await startScriptedClient(
    t,
    (_, reply) => {
      json(reply, { kind: 'X' })
    },
    {},
    () => ({ token: 'tok' }),
  )
  t.strictSame(
    await client.get('/api/v1/pods', { query: { fieldSelector: 'spec.nodeName=n1', limit: '5' } }),
    { kind: 'X' },
  )
  await client.post('/apis/x/v1/y', { a: 1 })
  await client.patch('/apis/x/v1/y/z', { b: null })
  const headers = {
    authorization: 'Bearer tok',
    'user-agent': /^ipkeeper-server\/\d/,
    accept: 'application/json',
  }
  t.match(api.calls, [
    { method: 'GET', path: '/api/v1/pods', headers, body: undefined },
    { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: { a: 1 } },
    { method: 'PATCH', headers: { 'content-type': 'application/merge-patch+json' }, body: { b: null } },
  ])
  t.strictSame(Object.fromEntries(api.calls[0]!.query), { fieldSelector: 'spec.nodeName=n1', limit: '5' })
  t.ok(api.connections() < 3, 'connections serve again')
})

t.test('a path of the server stands before ours', async t => {
  const api = await startScriptedApi(t, (_, reply) => {
    json(reply, {})
  })
  const client = new ApiClient(accessTo(`${api.url}/k8s/clusters/c-1`))
  t.teardown(() => client.close())
  await client.get('/api/v1/pods')
  t.equal(api.calls[0]!.path, '/k8s/clusters/c-1/api/v1/pods')
  t.equal(api.calls[0]!.headers.authorization, undefined, 'no token, no header')
})

t.test('what is no answer', async t => {
  const big = 'x'.repeat(5000)
  for (const [what, script, expected] of [
    [
      'a refusal',
      (_, reply) => {
        json(reply, failure(403, 'Forbidden', { message: 'no' }), 403)
      },
      { status: 403, reason: 'Forbidden', message: 'GET /x: 403 Forbidden: no' },
    ],
    [
      'a refusal of a proxy',
      (_, reply) => {
        reply.writeHead(502).end('bad gateway')
      },
      { status: 502, message: /502: bad gateway/ },
    ],
    [
      'a redirection',
      (_, reply) => {
        reply.writeHead(302, { location: 'http://elsewhere/' }).end()
      },
      { status: 302 },
    ],
    [
      'asked to wait',
      (_, reply) => {
        json(reply, failure(429, 'TooManyRequests'), 429, { 'retry-after': '7' })
      },
      { status: 429, retryAfter: 7000 },
    ],
    [
      'no JSON',
      (_, reply) => {
        reply.end('<html>')
      },
      { status: undefined, message: 'GET /x: the answer is no JSON object' },
    ],
    [
      'an array',
      (_, reply) => {
        json(reply, [])
      },
      { message: /no JSON object/ },
    ],
    [
      'cut short',
      (_, reply) => {
        reply.writeHead(200, { 'content-length': '100' })
        reply.write('{"a":')
        setTimeout(() => reply.destroy(), 10)
      },
      { status: undefined, code: /UND_ERR_SOCKET|ECONNRESET/ },
    ],
    [
      'too large',
      (_, reply) => {
        json(reply, { big })
      },
      { message: 'GET /x: the answer is larger than 4000 bytes' },
    ],
    [
      'cut before the answer',
      (_, reply) => {
        reply.destroy()
      },
      { code: /UND_ERR_SOCKET|ECONNRESET/ },
    ],
    ['nothing', () => undefined, { message: 'GET /x: no answer within 300 ms' }],
    [
      'half of it',
      (_, reply) => {
        reply.writeHead(200)
        reply.write('{')
      },
      { message: 'GET /x: no answer within 300 ms' },
    ],
  ] as const satisfies readonly (readonly [string, Script, object])[]) {
    await t.test(what, async t => {
      const timeout = /within 300 ms/.test(String((expected as { message?: unknown }).message)) ? 300 : 10_000
      const { client } = await startScriptedClient(t, script, { timeout, size: 4000 }, () => ({
        token: 'SECRET',
      }))
      const error = await thrown(client.get('/x'))
      t.match(error, expected)
      t.notMatch(error.message, 'SECRET')
    })
  }
})

t.test('nobody there', async t => {
  const { api, client } = await startScriptedClient(t, (_, reply) => {
    json(reply, {})
  })
  api.cut()
  const away = new ApiClient(accessTo('http://127.0.0.1:1'))
  t.teardown(() => away.close())
  t.match(await thrown(away.get('/x')), {
    code: 'ECONNREFUSED',
    status: undefined,
    message: /GET http:\/\/127\.0\.0\.1:1\/x: .*ECONNREFUSED/,
  })
  await client.close()
  t.match(await thrown(client.get('/x')), { message: 'the client is closed' })
})

t.test('a 401 has the credentials read again, once', async t => {
  const asked: boolean[] = []
  let valid = 'tok-2'
  const { api, client } = await startScriptedClient(
    t,
    ({ headers }, reply) => {
      if (headers.authorization === `Bearer ${valid}`) json(reply, { ok: true })
      else json(reply, failure(401, 'Unauthorized'), 401)
    },
    {},
    again => {
      asked.push(again)
      return { token: again ? 'tok-2' : 'tok-1' }
    },
  )
  t.strictSame(await client.get('/x'), { ok: true })
  t.strictSame(asked, [false, true])
  valid = 'tok-3'
  t.match(await thrown(client.get('/x')), {
    status: 401,
    message: 'GET /x (credentials: a test): 401 Unauthorized: Unauthorized',
  })
  t.equal(api.calls.length, 4, 'and not again and again')
  valid = 'tok-2'
  const stream = await client.watch('/w', {}, new AbortController().signal)
  for await (const chunk of stream) t.equal(Buffer.from(chunk).toString(), '{"ok":true}', 'a watch as well')
})

t.test('an idle connection that the server closes is no failure of the next request', async t => {
  let requests = 0
  const { client } = await startScriptedClient(t, (_, reply) => {
    requests++
    if (requests === 2) reply.destroy()
    else json(reply, { requests })
  })
  await client.get('/x')
  t.strictSame(await client.get('/x'), { requests: 3 })
  requests = 1
  t.match(await thrown(client.post('/x', {})), { status: undefined }, 'what writes is not sent twice')
})

t.test('so many requests at once, and not more', async t => {
  let open = 0
  let most = 0
  const { api, client } = await startScriptedClient(
    t,
    (_, reply) => {
      most = Math.max(most, ++open)
      setTimeout(() => {
        open--
        json(reply, {})
      }, 5)
    },
    { requests: 3 },
  )
  await Promise.all(Array.from({ length: 20 }, () => client.get('/x')))
  t.equal(most, 3)
  t.equal(api.calls.length, 20)
  t.ok(api.connections() <= 3)
})

t.test('a watch gives bytes as they come, until somebody ends it', async t => {
  const { api, client } = await startScriptedClient(
    t,
    ({ path }, reply) => {
      if (path === '/refused') {
        json(reply, failure(410, 'Expired'), 410)
        return
      }
      if (path === '/never') return
      reply.writeHead(200)
      reply.write('one')
      if (path === '/ended') reply.end()
      if (path === '/cut') setTimeout(() => reply.destroy(), 10)
    },
    { timeout: 2000 },
  )
  const read = async (path: string, signal = new AbortController().signal): Promise<string> => {
    let text = ''
    for await (const chunk of await client.watch(path, {}, signal)) text += Buffer.from(chunk).toString()
    return text
  }
  t.equal(await read('/ended'), 'one')
  t.match(await thrown(read('/cut')), { code: /UND_ERR_SOCKET|ECONNRESET/ })
  t.match(await thrown(read('/refused')), { status: 410 })
  t.match(await thrown(read('/never')), { message: 'GET /never: no answer within 2000 ms' })

  const stopped = new AbortController()
  const reading = thrown(read('/open', stopped.signal))
  await until('the watch is open', () => api.calls.at(-1)?.path === '/open')
  // Longer than an answer may take: a watch is not one.
  await delay(2100)
  stopped.abort()
  t.match(await reading, { status: undefined })
  t.match(
    await thrown(read('/open', stopped.signal)),
    { status: undefined },
    'a signal that was there before',
  )
  await until('no connection is left open by watches', () => api.connections() <= 1)
})

t.test('certificates may be renewed, and the client be closed, while watches run', async t => {
  const api = await startScriptedApi(t, ({ path }, reply) => {
    reply.writeHead(200)
    reply.write('{}')
    if (path !== '/w') reply.end()
  })
  let ca = 'one'
  const client = new ApiClient(accessTo(api.url, () => ({ tls: { ca } })))
  const read = async (): Promise<void> => {
    for await (const chunk of await client.watch('/w', {}, new AbortController().signal))
      t.equal(chunk.length, 2)
  }
  const first = thrown(read())
  await until('the first', () => api.calls.length === 1)
  ca = 'two'
  const second = thrown(read())
  await until('the second', () => api.calls.length === 2)
  await client.get('/x')
  t.ok(api.connections() >= 2, 'each has a connection of its own')
  await client.close()
  t.match(await first, { status: undefined })
  t.match(await second, { status: undefined })
  await until('all connections are closed', () => api.connections() === 0)
})

t.test('TLS', { skip: missing('openssl') }, async t => {
  const folder = tempFolder(t)
  const mine = await makeServerCertificate(folder, 'mine', 'DNS:kubernetes', 'IP:127.0.0.1')
  const other = await makeServerCertificate(folder, 'other', 'DNS:kubernetes')
  const server = { ...mine, ca: other.cert, requestCert: true, rejectUnauthorized: false }
  const api = await startScriptedApi(
    t,
    (_, reply) => {
      const { socket } = reply as unknown as { socket: { authorized: boolean; servername: string | false } }
      json(reply, { client: socket.authorized, name: socket.servername })
    },
    server,
  )
  let secrets: ApiSecrets = { token: undefined, tls: {} }
  const client = new ApiClient(accessTo(api.url, () => secrets))
  t.teardown(() => client.close())

  for (const [what, tls, expected] of [
    ['the authority of the system', {}, /DEPTH_ZERO_SELF_SIGNED_CERT/],
    ['another authority', { ca: other.cert }, /DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY/],
    ['its own', { ca: mine.cert }, { client: false, name: false }],
    ['unchecked', { insecure: true }, { client: false }],
    ['another name', { ca: mine.cert, servername: 'kubernetes' }, { name: 'kubernetes' }],
    ['a name that is not in it', { ca: mine.cert, servername: 'elsewhere' }, /ERR_TLS_CERT_ALTNAME_INVALID/],
    ['a client certificate', { ca: mine.cert, cert: other.cert, key: other.key }, { client: true }],
    ['and none again', { ca: mine.cert }, { client: false }],
  ] as const) {
    secrets = { token: undefined, tls }
    if (expected instanceof RegExp) t.match(await thrown(client.get('/x')), { code: expected }, what)
    else t.match(await client.get('/x'), expected, what)
  }

  const watching = new AbortController()
  const stream = await client.watch('/w', {}, watching.signal)
  secrets = { token: undefined, tls: { ca: `${mine.cert}\n` } }
  t.match(await client.get('/x'), { client: false }, 'certificates are renewed while a watch runs')
  for await (const chunk of stream) t.match(Buffer.from(chunk).toString(), 'client', 'it goes on to its end')

  // A URL with a name: undici would take that one for the certificate.
  const named = new ApiClient(
    accessTo(api.url.replace('127.0.0.1', 'localhost'), () => ({
      tls: { ca: mine.cert, servername: 'kubernetes' },
    })),
  )
  t.teardown(() => named.close())
  t.match(await named.get('/x'), { name: 'kubernetes' }, 'the configured name wins')
})

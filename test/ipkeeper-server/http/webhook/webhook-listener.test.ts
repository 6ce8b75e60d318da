import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import type { KeyPair } from '../../../../ipkeeper-server/http/webhook/certificate-files.ts'
import type {
  Admission,
  AdmissionVerdict,
} from '../../../../ipkeeper-server/http/webhook/plan/admission-review.ts'
import { WebhookListener } from '../../../../ipkeeper-server/http/webhook/webhook-listener.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import { freePort } from '../../../rigs/free-port.ts'
import { makeServerCertificate } from '../../../rigs/server-certificate.ts'
import { makeTempFolder } from '../../../rigs/temp-folder.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

const host = '127.0.0.1'
const folder = makeTempFolder()
t.teardown(() => {
  folder.remove()
})
const [first, renewed] = [
  await makeServerCertificate(folder, 'first', 'DNS:ipkeeper'),
  await makeServerCertificate(folder, 'second', 'DNS:ipkeeper'),
]

const files: { pair: KeyPair | undefined } = { pair: { ...first, validTo: Infinity } }
const judged: Admission[] = []
const errors: unknown[] = []
const verdicts: Readonly<Record<string, () => Promise<AdmissionVerdict>>> = {
  good: () => Promise.resolve({ refusals: [], warnings: ['cooling down'] }),
  bad: () =>
    Promise.resolve({
      refusals: [new Problem('IPK_NODE_NAME_TAKEN', '10.22.0.50 belongs to shop/web-0')],
      warnings: [],
    }),
  advised: () =>
    Promise.resolve({
      refusals: [new Problem('IPK_ADDRESS_HELD', 'it is held', { hint: 'see: TOOL' })],
      warnings: ['see: TOOL'],
    }),
  broken: () => Promise.reject(new Error('disk full at /secret')),
}
const options = {
  certificate: { current: () => files.pair },
  judge: async ({ name }: Admission) => {
    const judge = verdicts[name]
    if (!judge) throw new Error(`no verdict for ${name}`)
    return await judge()
  },
  onVerdict: (admission: Admission) => judged.push(admission),
  onError: (error: unknown) => errors.push(error),
  remedy: (text: string) => text.replace('TOOL', 'kubectl exec'),
}
const port = await freePort()
const listener = new WebhookListener(options)
await listener.listen({ host, port })
t.teardown(() => listener.close())

const review = (name: string): string =>
  JSON.stringify({
    ...{ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' },
    request: {
      ...{ uid: `uid-${name}`, operation: 'CREATE', namespace: 'shop', name },
      kind: { group: '', version: 'v1', kind: 'Pod' },
      object: { metadata: { name } },
    },
  })

async function ask(method: string, path: string, body = '', headers: Record<string, string> = {}) {
  const sent = request({ host, port, method, path, headers, agent: false, rejectUnauthorized: false })
  // A body that is refused is not read to its end.
  sent.on('error', () => undefined)
  sent.end(body)
  const [reply] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of reply) text += String(chunk)
  return { status: reply.statusCode, text, headers: reply.headers }
}

t.test('reviews are answered, and everything else is refused with a reason', async t => {
  const json = { 'content-type': 'application/json' }
  const tooLong = ' '.repeat(4 * 1024 * 1024 + 1)
  const table: readonly [name: string, asked: Parameters<typeof ask>, status: number, text: RegExp][] = [
    [
      'good',
      ['POST', '/validate?timeout=10s', review('good'), json],
      200,
      /"allowed":true,"warnings":\["cooling/,
    ],
    [
      'bad',
      ['POST', '/validate', review('bad'), json],
      200,
      /"allowed":false.*10\.22\.0\.50 belongs to shop/,
    ],
    [
      'with advice, as it works where the daemon runs',
      ['POST', '/validate', review('advised'), json],
      200,
      /"warnings":\["see: kubectl exec"\].*it is held \[IPK_ADDRESS_HELD\]; see: kubectl exec"/,
    ],
    [
      'another type',
      ['POST', '/validate', review('good'), { 'content-type': 'text/plain' }],
      200,
      /"allowed":true/,
    ],
    ['no type', ['POST', '/validate', review('good')], 200, /"allowed":true/],
    ['not judged', ['POST', '/validate', review('broken'), json], 500, /see the log of the daemon\n$/],
    ['no JSON', ['POST', '/validate', '{', json], 400, /no AdmissionReview/],
    ['__proto__', ['POST', '/validate', '{"__proto__":{"x":1}}', json], 400, /no AdmissionReview/],
    ['no review', ['POST', '/validate', '{}', json], 400, /no AdmissionReview/],
    ['no body', ['POST', '/validate', '', json], 400, /no AdmissionReview/],
    ['too long', ['POST', '/validate', tooLong, json], 413, /at most 4194304 bytes/],
    ['another method', ['GET', '/validate'], 405, /^405 Method Not Allowed: only POST\n$/],
    [
      'another path',
      ['POST', '/mutate', review('good'), json],
      404,
      /^404 Not Found: only \/validate is here\n$/,
    ],
    ['too long for another path', ['POST', '/x', tooLong, json], 404, /only \/validate/],
    ['no path', ['POST', '/%zz', review('good'), json], 400, /^400 Bad Request: /],
  ]
  for (const [name, asked, status, text] of table) t.match(await ask(...asked), { status, text }, name)
  t.strictSame(
    judged.map(({ uid }) => uid),
    ['uid-good', 'uid-bad', 'uid-advised', 'uid-good', 'uid-good'],
  )
  t.match(errors, [{ message: 'disk full at /secret' }], 'what is asked wrongly is no fault here')
  t.match(await ask('GET', '/validate'), { headers: { allow: 'POST', connection: 'close' } })
})

/** The certificate that a new connection gets; undefined where none comes about. */
async function shown(): Promise<string | undefined> {
  const socket: TLSSocket = connect({ host, port, rejectUnauthorized: false })
  try {
    await once(socket, 'secureConnect')
    return socket.getPeerX509Certificate()?.toString()
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}

t.test('each new connection has the certificate that is in force then', async t => {
  t.equal(await shown(), first.cert)
  files.pair = { ...renewed, validTo: Infinity }
  t.equal(await shown(), renewed.cert)
  files.pair = undefined
  t.equal(await shown(), renewed.cert, 'the last one that could be used')
})

t.test('without a certificate no connection comes about, until there is one', async t => {
  const [another, place] = [new WebhookListener(options), await freePort()]
  await another.listen({ host, port: place })
  t.teardown(() => another.close())
  const reached = async (): Promise<boolean> => {
    const socket = connect({ host, port: place, rejectUnauthorized: false })
    const met = await once(socket, 'secureConnect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return met
  }
  files.pair = undefined
  t.equal(await reached(), false)
  files.pair = { ...first, validTo: Infinity }
  t.equal(await reached(), true)
})

t.test('a port in use is told with the key, and may be tried again', async t => {
  const another = new WebhookListener(options)
  t.teardown(() => another.close())
  t.match(await thrownProblem(() => another.listen({ host, port })), {
    code: 'IPK_WEBHOOK_LISTEN',
    message: `webhook.listen: another program listens on ${host}:${port}`,
  })
  await another.listen({ host, port: await freePort() })
})

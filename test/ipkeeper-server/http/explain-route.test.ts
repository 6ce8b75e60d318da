import { Ajv } from 'ajv'
import t, { type Test } from 'tap'
import { ErrorReply } from '../../../shared/api/cni.schema.ts'
import { ExplainReply } from '../../../shared/api/explain.schema.ts'
import { openLeaseApp } from '../../rigs/served-leases.ts'

const config = {
  cniVersion: '1.0.0',
  name: 'net',
  type: 'bridge',
  capabilities: { 'io.kubernetes.cri.pod-annotations': true },
  ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]] },
}
const question = { config, namespace: 'shop', name: 'web-0' }

/** The application, and the route as a function. */
async function explainRoute(t: Test) {
  const { story, app } = await openLeaseApp(t)
  const ask = async (payload: object) => {
    const reply = await app.inject({ method: 'POST', url: '/v1/explain', payload })
    return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() }
  }
  return { story, ask }
}

t.test('every answer has the shape of its schema', async t => {
  const { story, ask } = await explainRoute(t)
  await story.add({ pod: 'web-0', container: 'c1', uid: 'u1' })
  const ajv = new Ajv()
  for (const [patch, answer] of [
    [{}, { addresses: ['10.22.0.2/24'], error: null }],
    [{ manifest: { annotations: { 'ipkeeper.io/ip': '10.22.0.9' } } }, { addresses: ['10.22.0.9/24'] }],
    [{ manifest: { annotations: { 'ipkeeper.io/ip': 'x' } } }, { error: { code: 'IPK_ADDRESS_INVALID' } }],
    [{ config: { ...config, cniVersion: '0.2.0' } }, { result: { ip4: { ip: '10.22.0.2/24' } } }],
    [
      { name: 'b', config: { ...config, ipam: { ...config.ipam, fallback: { type: 'dhcp' } } } },
      { delegatedTo: 'dhcp', result: null },
    ],
  ] as const) {
    const { status, body } = await ask({ ...question, ...patch })
    t.equal(status, 200)
    t.match(body, answer)
    t.ok(ajv.validate(ExplainReply, body), ajv.errorsText())
  }
  t.strictSame(story.leases(), ['10.22.0.2 bound shop/web-0 c1'], 'nothing was changed')
})

t.test('what is no question is refused', async t => {
  const { ask } = await explainRoute(t)
  const ajv = new Ajv()
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' }
  for (const [payload, code] of [
    [{}, 'IPK_REQUEST_INVALID'],
    [{ ...question, name: 5 }, 'IPK_REQUEST_INVALID'],
    [{ ...question, name: '' }, 'IPK_REQUEST_INVALID'],
    [{ ...question, name: 'x'.repeat(254) }, 'IPK_REQUEST_INVALID'],
    [{ ...question, namespace: '../x' }, 'IPK_REQUEST_INVALID'],
    [{ ...question, namespace: 'shop;IP=10.22.0.9' }, 'IPK_REQUEST_INVALID'],
    [{ ...question, ifname: 'longer-than-linux-allows' }, 'IPK_REQUEST_INVALID'],
    [{ ...question, ifname: 'a/b' }, 'IPK_ENVIRONMENT'],
    [{ ...question, config: [] }, 'IPK_REQUEST_INVALID'],
    [{ ...question, config: { ...config, name: '../x' } }, 'IPK_NETWORK_NAME'],
    [{ ...question, container: 'c1' }, 'IPK_REQUEST_INVALID'],
    [{ ...question, manifest: {} }, 'IPK_REQUEST_INVALID'],
    [{ ...question, manifest: { annotations: { a: 1 } } }, 'IPK_REQUEST_INVALID'],
    [{ ...question, manifest: { annotations: {}, owner: { ...owner, uid: 'u' } } }, 'IPK_REQUEST_INVALID'],
    [
      { ...question, manifest: { annotations: {}, owner: { ...owner, ordinalsStart: -1 } } },
      'IPK_REQUEST_INVALID',
    ],
    [
      { ...question, manifest: { annotations: {}, podsAtOnce: { replicas: 1e9, surge: 0 } } },
      'IPK_REQUEST_INVALID',
    ],
  ] as const) {
    const { status, body } = await ask(payload)
    t.equal(status, 400, JSON.stringify(payload).slice(0, 100))
    t.equal(body['code'], code)
    t.ok(ajv.validate(ErrorReply, body), ajv.errorsText())
  }
})

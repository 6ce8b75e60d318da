/** The double of scheduler and kubelets goes by what is, not by what happened: a request that is refused is made again. */
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openClusterClient, type ApiObject, type ClusterClient } from '../rigs/cluster-client.ts'
import { startNodeDouble } from '../rigs/node-double.ts'
import { failure, json, startScriptedApi, type ApiCall } from '../rigs/scripted-api.ts'

interface SmallServer {
  readonly client: ClusterClient
  /** By name. */
  readonly pods: Map<string, ApiObject>
  /** Requests that change something, "METHOD PATH". */
  readonly changes: readonly string[]
  /** Is asked before each of them; a status is what it is refused with. */
  refusal: (change: string) => number | undefined
}

/** As much of an API server as the double asks of one; its watches tell nothing unless `events`. */
async function startSmallServer(t: Test, { events = true } = {}): Promise<SmallServer> {
  const pods = new Map<string, ApiObject>()
  const changes: string[] = []
  const apply = ({ method, path, body }: ApiCall): void => {
    const name = path.split('/')[6] ?? ''
    const pod = pods.get(name)
    if (!pod) return
    if (method === 'DELETE') pods.delete(name)
    else if (path.endsWith('/binding')) pod['spec'].nodeName = (body as ApiObject)['target'].name
    else pod['status'] = (body as ApiObject)['status']
  }
  const api = await startScriptedApi(t, (call, reply) => {
    const { method, path, query } = call
    if (path === '/api/v1') {
      json(reply, { resources: [{ kind: 'Node', name: 'nodes', namespaced: false }] })
    } else if (method === 'GET' && query.has('watch')) {
      reply.writeHead(200)
      reply.flushHeaders()
      if (events)
        for (const object of pods.values()) reply.write(`${JSON.stringify({ type: 'ADDED', object })}\n`)
    } else if (method === 'GET') {
      json(reply, { items: [...pods.values()] })
    } else {
      const change = `${method} ${path}`
      if (path !== '/api/v1/nodes') changes.push(change)
      const status = server.refusal(change)
      if (status === undefined) apply(call)
      json(reply, status === undefined ? {} : failure(status, 'not now'), status ?? 200)
    }
  })
  const client = openClusterClient({ url: api.url, ca: '', credentials: { token: 'any' } })
  const server: SmallServer = { client, pods, changes, refusal: () => undefined }
  return server
}

function addPod({ pods }: SmallServer, name: string): void {
  const metadata = { name, namespace: 'shop', uid: `uid of ${name}` }
  pods.set(name, { metadata, spec: {}, status: { phase: 'Pending' } })
}

const isRunning =
  ({ pods }: SmallServer, name: string, node: string) =>
  (): boolean =>
    pods.get(name)?.['spec'].nodeName === node && pods.get(name)?.['status'].phase === 'Running'

for (const status of [409, 429, 500, 503]) {
  t.test(`a server that refuses the first binding with ${status}`, async t => {
    const server = await startSmallServer(t)
    let refusals = 0
    server.refusal = change => (change.endsWith('web-0/binding') && refusals++ === 0 ? status : undefined)
    for (const name of ['web-0', 'web-1']) addPod(server, name)
    await startNodeDouble(t, server.client, ['worker-1', 'worker-2'])
    await server.client.until('/api/v1/pods', isRunning(server, 'web-0', 'worker-1'))
    await server.client.until('/api/v1/pods', isRunning(server, 'web-1', 'worker-2'))
    t.equal(refusals, 2, 'one was refused, and the next was not')
  })
}

t.test('each request may be refused', async t => {
  const server = await startSmallServer(t)
  const seen = new Set<string>()
  server.refusal = change =>
    change.endsWith('/nodes') || seen.size === seen.add(change).size ? undefined : 500
  addPod(server, 'web-0')
  await startNodeDouble(t, server.client, ['worker-1'])
  await server.client.until('/api/v1/pods', isRunning(server, 'web-0', 'worker-1'))
  server.pods.get('web-0')!['metadata'].deletionTimestamp = '2026-01-01T00:00:00Z'
  await server.client.until('/api/v1/pods', () => !server.pods.has('web-0'))
  const pod = '/api/v1/namespaces/shop/pods/web-0'
  t.strictSame(
    server.changes,
    [`POST ${pod}/binding`, `PATCH ${pod}/status`, `DELETE ${pod}`].flatMap(change => [change, change]),
  )
})

t.test('a watch that tells nothing', async t => {
  const server = await startSmallServer(t, { events: false })
  await startNodeDouble(t, server.client, ['worker-1'])
  await delay(100)
  addPod(server, 'web-0')
  await server.client.until('/api/v1/pods', isRunning(server, 'web-0', 'worker-1'))
})

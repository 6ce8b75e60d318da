import t, { type Test } from 'tap'
import { Cluster, type ClusterOptions } from '../../../ipkeeper-server/kubernetes/cluster.ts'
import { until } from '../../rigs/poll.ts'
import {
  accessTo,
  failure,
  json,
  recordedLog,
  startScriptedApi,
  type Script,
} from '../../rigs/scripted-api.ts'

const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

/** An API with one node, no pods, and every right but those that `denied` says. */
const quiet =
  (denied: (attributes: { verb: string; resource: string }) => boolean = () => false): Script =>
  ({ path, query, body }, reply) => {
    if (path === reviews) {
      const { spec } = body as { spec: { resourceAttributes: { verb: string; resource: string } } }
      json(reply, { status: { allowed: !denied(spec.resourceAttributes) } }, 201)
    } else if (query.has('watch')) {
      reply.writeHead(200)
      reply.flushHeaders()
    } else {
      const node = { metadata: { name: 'n1', uid: 'n', resourceVersion: '1' } }
      json(reply, { metadata: { resourceVersion: '1' }, items: path.endsWith('/nodes') ? [node] : [] })
    }
  }

async function makeCluster(t: Test, script: Script, options: Partial<ClusterOptions> = {}) {
  const api = await startScriptedApi(t, script)
  const { log, lines } = recordedLog()
  const cluster = new Cluster({
    access: accessTo(api.url),
    node: 'n1',
    watchNamespaces: false,
    log,
    ...options,
  })
  t.teardown(() => cluster.stop())
  return { api, cluster, lines }
}

t.test('says where it stands', async t => {
  const { cluster, api, lines } = await makeCluster(t, quiet())
  t.match(cluster.status(), {
    server: api.url,
    source: 'a test',
    connected: false,
    access: undefined,
    ownersWaiting: 0,
  })
  cluster.start()
  await until('connected', () => cluster.status().connected && cluster.status().access !== undefined)
  t.match(cluster.status(), {
    watches: [
      { resource: 'pods', connected: true, synced: true, lastError: undefined },
      { resource: 'nodes', connected: true, synced: true, lastError: undefined },
    ],
    counts: { pods: 0, namespaces: 0, nodes: 1 },
    events: { queued: 0, written: 0, dropped: 0 },
    access: { missing: [], add: '' },
    misnamed: undefined,
  })
  t.strictSame(lines, [])
  const open = api.connections()
  t.ok(open <= 2 + 4, `${open} connections: one for each watch, and at most four for all else`)
})

t.test('rights are asked for until the API tells, and what is missing is told once', async t => {
  let refusals = 3
  const answer = quiet(({ verb, resource }) => verb === 'patch' && resource === 'events')
  const { cluster, lines } = await makeCluster(t, (call, reply) => {
    if (call.path === reviews && refusals-- > 0) json(reply, failure(503, 'ServiceUnavailable'), 503)
    else answer(call, reply)
  })
  cluster.start()
  await until('told', () => lines.length > 0)
  t.match(lines, [
    {
      level: 'warn',
      message: 'the Kubernetes API does not grant all that is needed',
      missing: [/^patch events \(/],
      add: '- apiGroups: ["events.k8s.io"]\n  resources: [events]\n  verbs: [patch]\n',
    },
  ])
  t.equal((await cluster.checkAccess()).missing.length, 1)
})

t.test('it starts without an API, and stops at once whatever hangs', async t => {
  for (const [what, script] of [
    ['nobody answers', () => undefined],
    [
      'everything is refused',
      (_, reply) => {
        json(reply, failure(500, 'InternalError'), 500)
      },
    ],
    ['all is well', quiet()],
  ] as const satisfies readonly (readonly [string, Script])[]) {
    const { cluster, api } = await makeCluster(t, script, { watchNamespaces: true })
    cluster.start()
    cluster.events.record(
      { namespace: 'shop', name: 'a', uid: null },
      { type: 'Normal', reason: 'A', action: 'B', message: 'm' },
    )
    await until(what, () => api.calls.length >= 4)
    const began = performance.now()
    await cluster.stop()
    t.ok(performance.now() - began < 10_000, what)
    const asked = api.calls.length
    cluster.setWatchNamespaces(false)
    cluster.setWatchNamespaces(true)
    await until('nothing is open', () => api.connections() === 0)
    t.equal(api.calls.length, asked, `${what}: nothing is asked any more`)
  }
})

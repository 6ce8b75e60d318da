import t, { type Test } from 'tap'
import { systemClock } from '../../../ipkeeper-server/kubernetes/client-context.ts'
import { KindDiscovery, ownerExists } from '../../../ipkeeper-server/kubernetes/owner-existence.ts'
import { failure, json, startScriptedClient, type Script } from '../../rigs/scripted-api.ts'

const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'u1' }
const rollout = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'web', uid: 'u1' }

async function ownersOf(t: Test, script: Script, timeout = 10_000) {
  const { api, client } = await startScriptedClient(t, script, { timeout })
  const clock = { ...systemClock, at: 0, monotonic: () => clock.at }
  const discovery = new KindDiscovery(client, clock)
  return {
    clock,
    exists: (owner: typeof set, namespace = 'shop') => ownerExists(client, discovery, namespace, owner),
    paths: () => api.calls.map(({ path }) => path),
  }
}

const found =
  (uid: string, name = 'web'): Script =>
  (_, reply) => {
    json(reply, { metadata: { name, uid, resourceVersion: '1' } })
  }
const refused =
  (code: number, reason: string, rest: object = {}): Script =>
  (_, reply) => {
    json(reply, failure(code, reason, rest), code)
  }
const notFound = refused(404, 'NotFound', { details: { name: 'web', kind: 'statefulsets' } })

const silence: Script = () => undefined

t.test('gone only by proof', async t => {
  for (const [what, script, owner, expected] of [
    ['it is there', found('u1'), set, 'exists'],
    ['another of that name', found('u2'), set, 'gone'],
    ['the API says NotFound of that very name', notFound, set, 'gone'],
    ['NotFound of another name', refused(404, 'NotFound', { details: { name: 'shop' } }), set, 'unknown'],
    ['a path that does not exist', refused(404, 'NotFound', { details: {} }), set, 'unknown'],
    [
      '404 of a proxy',
      (_, reply) => {
        reply.writeHead(404).end('page not found')
      },
      set,
      'unknown',
    ],
    ['an object of another name', found('u1', 'other'), set, 'unknown'],
    [
      'no object',
      (_, reply) => {
        json(reply, {})
      },
      set,
      'unknown',
    ],
    ['no right', refused(403, 'Forbidden'), set, 'unknown'],
    ['no valid token', refused(401, 'Unauthorized'), set, 'unknown'],
    ['out of order', refused(500, 'InternalError'), set, 'unknown'],
    ['410 is not about the owner', refused(410, 'Gone'), set, 'unknown'],
    ['no answer', silence, set, 'unknown'],
    [
      'cut',
      (_, reply) => {
        reply.destroy()
      },
      set,
      'unknown',
    ],
    ['a name that is none', notFound, { ...set, name: '../web' }, 'unknown'],
  ] as const satisfies readonly (readonly [string, Script, typeof set, string])[]) {
    await t.test(what, async t => {
      const { exists } = await ownersOf(t, script, script === silence ? 200 : 10_000)
      t.equal(await exists(owner), expected)
    })
  }
})

t.test('each kind has its path', async t => {
  const { exists, paths } = await ownersOf(t, notFound)
  for (const [apiVersion, kind, path] of [
    ['v1', 'Pod', '/api/v1/namespaces/shop/pods/web'],
    ['apps/v1', 'StatefulSet', '/apis/apps/v1/namespaces/shop/statefulsets/web'],
    ['apps/v1', 'Deployment', '/apis/apps/v1/namespaces/shop/deployments/web'],
    ['apps/v1', 'ReplicaSet', '/apis/apps/v1/namespaces/shop/replicasets/web'],
    ['apps/v1', 'DaemonSet', '/apis/apps/v1/namespaces/shop/daemonsets/web'],
    ['batch/v1', 'Job', '/apis/batch/v1/namespaces/shop/jobs/web'],
    ['batch/v1', 'CronJob', '/apis/batch/v1/namespaces/shop/cronjobs/web'],
  ] as const) {
    t.equal(await exists({ ...set, apiVersion, kind }), 'gone', kind)
    t.equal(paths().at(-1), path)
  }
})

t.test('kinds of others are looked up', async t => {
  let resources: readonly object[] | undefined = [
    { name: 'rollouts/scale', kind: 'Rollout', namespaced: true },
    { name: 'rollouts', kind: 'Rollout', namespaced: true },
    { name: 'clusters', kind: 'Cluster', namespaced: false },
    null as unknown as object,
  ]
  const { exists, paths, clock } = await ownersOf(t, (call, reply) => {
    if (call.path !== '/apis/argoproj.io/v1alpha1') found('u1')(call, reply)
    else if (resources) json(reply, { kind: 'APIResourceList', resources })
    else json(reply, failure(404, 'NotFound'), 404)
  })
  t.equal(await exists(rollout), 'exists')
  t.equal(await exists({ ...rollout, kind: 'Cluster' }), 'exists')
  t.equal(await exists({ ...rollout, kind: 'Unheard' }), 'unknown')
  t.strictSame(paths(), [
    '/apis/argoproj.io/v1alpha1',
    '/apis/argoproj.io/v1alpha1/namespaces/shop/rollouts/web',
    '/apis/argoproj.io/v1alpha1/clusters/web',
  ])

  resources = undefined
  clock.at += 3_600_000
  t.equal(await exists(rollout), 'unknown', 'the kind has gone: that proves nothing of its objects')
  t.equal(await exists(rollout), 'unknown')
  t.equal(paths().length, 4, 'and it is not asked for again at once')
  resources = [{ name: 'rollouts', kind: 'Rollout', namespaced: true }]
  clock.at += 60_000
  t.equal(await exists(rollout), 'exists')
  for (const apiVersion of ['', '../x', 'a/b/c']) {
    t.equal(
      await exists({ ...rollout, apiVersion }),
      'unknown',
      `no apiVersion: ${JSON.stringify(apiVersion)}`,
    )
  }
})

t.test('a look-up that fails is not remembered', async t => {
  let ok = false
  const { exists } = await ownersOf(t, (call, reply) => {
    if (!call.path.endsWith('v1alpha1')) found('u1')(call, reply)
    else if (ok) json(reply, { resources: [{ name: 'rollouts', kind: 'Rollout', namespaced: true }] })
    else json(reply, failure(503, 'ServiceUnavailable'), 503)
  })
  t.equal(await exists(rollout), 'unknown')
  ok = true
  t.equal(await exists(rollout), 'exists')
})

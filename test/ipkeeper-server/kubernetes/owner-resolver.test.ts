import t, { type Test } from 'tap'
import { systemClock } from '../../../ipkeeper-server/kubernetes/client-context.ts'
import type { OwnerReference } from '../../../ipkeeper-server/kubernetes/kube-object.ts'
import { OwnerResolver, type ResolvedOwner } from '../../../ipkeeper-server/kubernetes/owner-resolver.ts'
import { until } from '../../rigs/poll.ts'
import { failure, json, recordedLog, startScriptedClient } from '../../rigs/scripted-api.ts'

const apps = '/apis/apps/v1/namespaces/shop'
const batch = '/apis/batch/v1/namespaces/shop'

const reference = (apiVersion: string, kind: string, name: string, uid = `uid-${name}`): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid,
})
const object = (
  name: string,
  {
    uid = `uid-${name}`,
    owner,
    spec,
    annotations,
  }: {
    uid?: string
    owner?: OwnerReference
    spec?: object
    annotations?: object
  } = {},
): object => ({
  metadata: {
    name,
    namespace: 'shop',
    uid,
    resourceVersion: '1',
    annotations,
    ...(owner && { ownerReferences: [{ ...owner, controller: true }] }),
  },
  spec,
})

const deployment = reference('apps/v1', 'Deployment', 'web')
const replicaSet = reference('apps/v1', 'ReplicaSet', 'web-abc')
const statefulSet = reference('apps/v1', 'StatefulSet', 'db')
const cronJob = reference('batch/v1', 'CronJob', 'nightly')
const job = reference('batch/v1', 'Job', 'nightly-1')

/** An API with these objects; a number is the status that is answered instead. */
async function startResolver(t: Test, objects: Record<string, object | number>) {
  const { api, client } = await startScriptedClient(t, ({ path }, reply) => {
    const found = objects[path] ?? 404
    if (typeof found === 'number') json(reply, failure(found, 'Whatever'), found)
    else json(reply, found)
  })
  const { log, lines } = recordedLog()
  const clock = {
    ...systemClock,
    offset: 0,
    monotonic: () => performance.now() + clock.offset,
    random: () => 0,
  }
  const owners = new OwnerResolver(client, clock, log)
  t.teardown(() => {
    owners.stop()
  })
  let pods = 0
  return {
    api,
    owners,
    lines,
    clock,
    objects,
    paths: () => api.calls.map(({ path }) => path.replace(/.*\/namespaces\/shop\//, '')),
    resolve: (controller: OwnerReference) =>
      new Promise<ResolvedOwner>(resolve => {
        owners.want(`pod-${++pods}`, 'shop', controller, resolve)
      }),
  }
}

t.test('who is at the top', async t => {
  const rollout = reference('argoproj.io/v1alpha1', 'Rollout', 'r')
  const prometheus = reference('monitoring.coreos.com/v1', 'Prometheus', 'p')
  for (const [what, objects, controller, expected, asked] of [
    [
      'a Deployment',
      {
        [`${apps}/replicasets/web-abc`]: object('web-abc', { owner: deployment }),
        [`${apps}/deployments/web`]: object('web'),
      },
      replicaSet,
      deployment,
      ['replicasets/web-abc', 'deployments/web'],
    ],
    [
      'a ReplicaSet of its own',
      { [`${apps}/replicasets/web-abc`]: object('web-abc') },
      replicaSet,
      replicaSet,
      ['replicasets/web-abc'],
    ],
    [
      'a ReplicaSet of something else',
      { [`${apps}/replicasets/web-abc`]: object('web-abc', { owner: rollout }) },
      replicaSet,
      rollout,
      ['replicasets/web-abc'],
    ],
    ['a ReplicaSet that has gone', {}, replicaSet, replicaSet, ['replicasets/web-abc']],
    [
      'a ReplicaSet of that name, made since',
      { [`${apps}/replicasets/web-abc`]: object('web-abc', { uid: 'other', owner: deployment }) },
      replicaSet,
      replicaSet,
      ['replicasets/web-abc'],
    ],
    [
      'a Deployment that has gone',
      { [`${apps}/replicasets/web-abc`]: object('web-abc', { owner: deployment }) },
      replicaSet,
      deployment,
      ['replicasets/web-abc', 'deployments/web'],
    ],
    [
      'a StatefulSet',
      { [`${apps}/statefulsets/db`]: object('db', { spec: {} }) },
      statefulSet,
      { ...statefulSet, ordinalsStart: 0 },
      ['statefulsets/db'],
    ],
    [
      'a StatefulSet that counts from 5',
      { [`${apps}/statefulsets/db`]: object('db', { spec: { ordinals: { start: 5 } } }) },
      statefulSet,
      { ...statefulSet, ordinalsStart: 5 },
      ['statefulsets/db'],
    ],
    [
      'a StatefulSet of an operator: people see the set',
      { [`${apps}/statefulsets/db`]: object('db', { owner: prometheus }) },
      statefulSet,
      { ...statefulSet, ordinalsStart: 0 },
      ['statefulsets/db'],
    ],
    [
      'a StatefulSet that may not be read',
      { [`${apps}/statefulsets/db`]: 403 },
      statefulSet,
      statefulSet,
      ['statefulsets/db'],
    ],
    [
      'a DaemonSet',
      { [`${apps}/daemonsets/d`]: object('d') },
      reference('apps/v1', 'DaemonSet', 'd'),
      reference('apps/v1', 'DaemonSet', 'd'),
      ['daemonsets/d'],
    ],
    [
      'a CronJob',
      {
        [`${batch}/jobs/nightly-1`]: object('nightly-1', { owner: cronJob }),
        [`${batch}/cronjobs/nightly`]: object('nightly'),
      },
      job,
      cronJob,
      ['jobs/nightly-1', 'cronjobs/nightly'],
    ],
    ['a Job of its own', { [`${batch}/jobs/nightly-1`]: object('nightly-1') }, job, job, ['jobs/nightly-1']],
    ['a kind of others', {}, rollout, rollout, []],
    [
      'an older way to have replicas',
      {},
      reference('v1', 'ReplicationController', 'rc'),
      reference('v1', 'ReplicationController', 'rc'),
      [],
    ],
    [
      'a name that is none',
      {},
      reference('apps/v1', 'StatefulSet', '../secrets'),
      reference('apps/v1', 'StatefulSet', '../secrets'),
      [],
    ],
  ] as const satisfies readonly (readonly [
    string,
    Record<string, object | number>,
    OwnerReference,
    object,
    readonly string[],
  ])[]) {
    await t.test(what, async t => {
      const { resolve, paths } = await startResolver(t, objects)
      t.strictSame((await resolve(controller)).owner, expected)
      t.strictSame(paths(), asked)
    })
  }
})

t.test('what of the top concerns the pod', async t => {
  const annotations = { 'ipkeeper.generals.space/ip_pool': 'a,b', 'ipkeeper.io/ip': 'x', other: 'y' }
  const { resolve, api } = await startResolver(t, {
    [`${apps}/replicasets/web-abc`]: object('web-abc', { owner: deployment, annotations }),
    [`${apps}/deployments/web`]: object('web', { annotations }),
  })
  t.match(await resolve(replicaSet), {
    annotations: { 'ipkeeper.generals.space/ip_pool': 'a,b', 'ipkeeper.io/ip': undefined, other: undefined },
    misplaced: [{ key: 'ipkeeper.io/ip' }],
  })
  t.match(api.calls[0]?.headers.accept, 'PartialObjectMetadata', 'of a ReplicaSet the metadata are enough')
  t.equal(api.calls[1]?.headers.accept, 'application/json', 'a template is no metadata')
})

t.test('pods of one roll-out share the answers, a later one sees what was changed', async t => {
  const path = `${apps}/deployments/web`
  const { resolve, paths, clock, objects } = await startResolver(t, {
    [`${apps}/replicasets/web-abc`]: object('web-abc', { owner: deployment }),
    [path]: object('web', { annotations: { 'ipkeeper.generals.space/ip_pool': 'old' } }),
  })
  await Promise.all(Array.from({ length: 20 }, () => resolve(replicaSet)))
  await resolve(replicaSet)
  t.strictSame(paths(), ['replicasets/web-abc', 'deployments/web'])
  objects[path] = object('web', { annotations: { 'ipkeeper.generals.space/ip_pool': 'new' } })
  clock.offset += 5_000
  t.strictSame((await resolve(replicaSet)).annotations, { 'ipkeeper.generals.space/ip_pool': 'new' })
  t.strictSame(paths().slice(2), ['deployments/web'], 'what a ReplicaSet belongs to does not change')

  objects[path] = 500
  clock.offset += 5_000
  t.strictSame(
    (await resolve(replicaSet)).annotations,
    { 'ipkeeper.generals.space/ip_pool': 'new' },
    'with the API out of order what is known serves',
  )
})

t.test('it is tried again while the API is out of order, and no longer for a pod that has gone', async t => {
  const path = `${apps}/statefulsets/db`
  const { resolve, owners, lines, objects, api } = await startResolver(t, { [path]: 503 })
  const first = resolve(statefulSet)
  const second = resolve(statefulSet)
  await until('refused', () => api.calls.length >= 2)
  t.equal(owners.waiting, 2)
  objects[path] = object('db', { spec: { ordinals: { start: 1 } } })
  t.match(await Promise.all([first, second]), [
    { owner: { ordinalsStart: 1 } },
    { owner: { ordinalsStart: 1 } },
  ])
  t.equal(owners.waiting, 0)
  t.equal(lines.length, 1, 'told once')

  objects[path] = 503
  owners.want('gone', 'shop', { ...statefulSet, uid: 'never-seen' }, () => t.fail('nobody waits for it'))
  const calls = api.calls.length
  await until('refused', () => api.calls.length === calls + 1)
  owners.forget('gone')
  objects[path] = object('db', { uid: 'never-seen' })
  await resolve({ ...statefulSet, uid: 'third' })
  t.equal(owners.waiting, 0)
})

t.test('a right that is missing is told once for a kind', async t => {
  const { resolve, lines } = await startResolver(t, {
    [`${apps}/replicasets/a`]: 403,
    [`${apps}/replicasets/b`]: 403,
    [`${apps}/statefulsets/db`]: 403,
  })
  await resolve(reference('apps/v1', 'ReplicaSet', 'a'))
  await resolve(reference('apps/v1', 'ReplicaSet', 'b'))
  await resolve(statefulSet)
  t.match(lines, [
    { level: 'warn', resource: 'replicasets', message: /not allowed to get replicasets/ },
    { level: 'warn', resource: 'statefulsets' },
  ])
  t.equal(lines.length, 2)
})

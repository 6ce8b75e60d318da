/** What the daemon knows of a real cluster, and how it goes on knowing it. */
import { readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { stringify } from 'yaml'
import type { Owner } from '../../ipkeeper-server/ipam/records/pod-facts.ts'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { startCluster, workloadControllers, type Cluster } from '../rigs/cluster.ts'
import { followCluster, podOnNode } from '../rigs/followed-cluster.ts'
import { startNodeDouble } from '../rigs/node-double.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'
import { startTcpRelay } from '../rigs/tcp-relay.ts'

const podsOf = '/api/v1/namespaces/shop/pods'
const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: { team: 'a' } } }
const node = (name: string, rest: object = {}): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { zone: `of-${name}` } },
  ...rest,
})
const wanted = (name: string, uid: string | null = null) => ({ namespace: 'shop', name, uid })
const uidOf = (object: ApiObject): string => object['metadata'].uid as string
const selector = { matchLabels: { app: 'web' } }
const template = (annotations: object = {}): object => ({
  metadata: { labels: { app: 'web' }, annotations },
  spec: {
    terminationGracePeriodSeconds: 0,
    restartPolicy: undefined,
    containers: [{ name: 'main', image: 'localhost/none' }],
  },
})
const connected = (cluster: { status: () => { connected: boolean } }) =>
  until('connected', () => cluster.status().connected)

async function followedShop(t: Test): Promise<{ api: Cluster }> {
  const api = await startCluster(t)
  await api.create(shop)
  await api.create(node('worker-1'))
  return { api }
}

t.test('a cluster without controllers', { skip: missing('cluster') }, async t => {
  const { api } = await followedShop(t)

  await t.test('pods of this node, with what is read of them', async t => {
    await api.create(
      podOnNode('early', {
        annotations: { 'ipkeeper.io/ip': '10.22.0.50', other: 'x' },
        labels: { app: 'web' },
      }),
    )
    const { cluster, view } = followCluster(t, api.kubeconfig)
    t.equal(await view.waitForPod(wanted('early'), 10_000), true, 'listed')
    const early = view.pod(wanted('early'))
    t.match(early, {
      annotations: { 'ipkeeper.io/ip': '10.22.0.50', other: undefined },
      labels: { app: 'web' },
      owner: null,
    })
    t.match(view.namespace('shop'), { labels: { team: 'a' } })
    await until('nodes', () => view.nodeLabels() !== undefined)
    t.match(view.nodeLabels(), { zone: 'of-worker-1' })

    const waiting = view.waitForPod(wanted('late'), 10_000)
    const late = await api.create(podOnNode('late'))
    t.equal(await waiting, true, 'watched')
    t.equal(view.pod(wanted('late', uidOf(late)))?.uid, uidOf(late))
    t.equal(view.pod(wanted('late', 'another')), undefined)
    await api.request('PATCH', `${podsOf}/late`, {
      metadata: { annotations: { 'ipkeeper.io/ip': '10.22.0.51' } },
    })
    await until('the change', () => view.pod(wanted('late'))?.annotations['ipkeeper.io/ip'] === '10.22.0.51')

    await api.create(podOnNode('elsewhere', {}, 'worker-2'))
    t.equal(await view.waitForPod(wanted('elsewhere'), 300), false, 'pods of other nodes are none of ours')
    await api.request('DELETE', `${podsOf}/late`)
    await until('it has gone', () => view.pod(wanted('late')) === undefined)
    await until('nothing of it is kept', () => cluster.status().counts.pods === 1)
    await api.request('DELETE', `${podsOf}/early`)
    t.match(cluster.status(), {
      connected: true,
      source: /^kubeconfig .*, context test$/,
      misnamed: undefined,
    })
  })

  await t.test('a static pod is found by the UID that the runtime knows', async t => {
    const { view } = followCluster(t, api.kubeconfig)
    const hash = '0123456789abcdef0123456789abcdef'
    const { uid } = (await api.request('GET', '/api/v1/nodes/worker-1'))['metadata'] as { uid: string }
    await api.create(
      podOnNode('etcd-worker-1', {
        annotations: {
          'kubernetes.io/config.hash': hash,
          'kubernetes.io/config.mirror': hash,
          'kubernetes.io/config.source': 'file',
        },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'worker-1', uid, controller: true }],
      }),
    )
    t.equal(await view.waitForPod(wanted('etcd-worker-1', hash), 10_000), true)
    t.match(view.pod(wanted('etcd-worker-1', hash)), { owner: null })
  })

  await t.test('namespaces are watched when somebody needs them', async t => {
    const { cluster, view } = followCluster(t, api.kubeconfig, { watchNamespaces: false })
    await api.create(podOnNode('p'))
    t.equal(await view.waitForPod(wanted('p'), 10_000), true)
    t.equal(view.namespace('shop'), undefined)
    t.strictSame(
      cluster.status().watches.map(({ resource }) => resource),
      ['pods', 'nodes'],
    )
    cluster.setWatchNamespaces(true)
    t.equal(await view.waitForPod(wanted('p'), 10_000), true)
    t.match(view.namespace('shop'), { labels: { team: 'a' } })
    await api.request('PATCH', '/api/v1/namespaces/shop', {
      metadata: { annotations: { 'ipkeeper.io/pool': 'prod' } },
    })
    await until('the change', () => view.namespace('shop')?.annotations['ipkeeper.io/pool'] === 'prod')
    cluster.setWatchNamespaces(false)
    t.equal(view.namespace('shop'), undefined)
    cluster.setWatchNamespaces(true)
    await until('again', () => view.namespace('shop') !== undefined)
    await api.request('DELETE', `${podsOf}/p`)
  })

  await t.test('nodes come, are lost and go', async t => {
    const { cluster, view } = followCluster(t, api.kubeconfig)
    await connected(cluster)
    await until('nodes', () => view.nodeLabels() !== undefined)
    t.equal(view.hasOtherNodes(), false)
    t.equal(view.node('worker-2'), 'gone')
    await api.create(node('worker-2'))
    await until('it is there', () => view.node('worker-2') === 'present')
    t.equal(view.hasOtherNodes(), true)
    const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }]
    await api.request('PATCH', '/api/v1/nodes/worker-2', { spec: { taints } })
    await until('it is out of service', () => view.node('worker-2') === 'out-of-service')
    await api.request('DELETE', '/api/v1/nodes/worker-2')
    await until('it has gone', () => view.node('worker-2') === 'gone')
  })

  await t.test('a node of another name than its Node sees no pods, and says so', async t => {
    const { cluster, view, lines } = followCluster(t, api.kubeconfig, { node: 'worker-1.example.org' })
    await until('said', () => lines.length > 0)
    t.match(lines, [
      { level: 'warn', node: 'worker-1.example.org', meant: 'worker-1', message: /has no Node of this name/ },
    ])
    t.match(cluster.status(), { misnamed: { meant: 'worker-1' } })
    t.equal(view.node('worker-9'), 'unknown', 'what else is missing proves nothing')
  })

  await t.test('whether an owner exists', async t => {
    const { view } = followCluster(t, api.kubeconfig)
    const spec = { replicas: 0, serviceName: 'web', selector, template: template() }
    const jobTemplate = template() as { spec: object }
    const batchSpec = { template: { ...jobTemplate, spec: { ...jobTemplate.spec, restartPolicy: 'Never' } } }
    const owners: ApiObject[] = [
      podOnNode('bare'),
      { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'web' }, spec },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: { replicas: 0, selector, template: template() },
      },
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: { name: 'web' },
        spec: { replicas: 0, selector, template: template() },
      },
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: { name: 'web' },
        spec: { selector, template: template() },
      },
      { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'web' }, spec: batchSpec },
      {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'web' },
        spec: { schedule: '0 0 * * *', jobTemplate: { spec: batchSpec } },
      },
      {
        apiVersion: 'v1',
        kind: 'ReplicationController',
        metadata: { name: 'web' },
        spec: { replicas: 0, selector: { app: 'web' }, template: template() },
      },
    ]
    for (const manifest of owners) {
      const create = () =>
        api.create({ ...manifest, metadata: { ...manifest['metadata'], namespace: 'shop' } })
      const { apiVersion, kind, metadata } = await create()
      const owner: Owner = { apiVersion, kind, name: metadata.name, uid: metadata.uid }
      t.equal(await view.ownerExists('shop', owner), 'exists', `${kind}: there`)
      t.equal(
        await view.ownerExists('shop', { ...owner, uid: 'another' }),
        'gone',
        `${kind}: another of that name`,
      )
      t.equal(await view.ownerExists('other', owner), 'gone', `${kind}: not in that namespace`)
      const plural = `${(kind as string).toLowerCase()}s`
      await api.request(
        'DELETE',
        `${apiVersion === 'v1' ? '/api' : '/apis'}/${apiVersion}/namespaces/shop/${plural}/${metadata.name}`,
        { propagationPolicy: 'Background' },
      )
      t.equal(await view.ownerExists('shop', owner), 'gone', `${kind}: deleted`)
    }
    const odd = { name: 'x', uid: 'y' }
    t.equal(
      await view.ownerExists('shop', { ...odd, apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout' }),
      'unknown',
      'no such kind',
    )
    t.equal(
      await view.ownerExists('shop', { ...odd, apiVersion: 'apps/v1', kind: 'Rollout' }),
      'unknown',
      'no such kind in a group that is there',
    )
  })

  await t.test('a kind of others, in a group of its own', async t => {
    const { view } = followCluster(t, api.kubeconfig)
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'rollouts.example.org' },
      spec: {
        group: 'example.org',
        scope: 'Namespaced',
        names: { plural: 'rollouts', singular: 'rollout', kind: 'Rollout', listKind: 'RolloutList' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    }
    await api.create(crd)
    await api.until('/apis/example.org/v1', ({ resources }) => (resources as unknown[]).length > 0)
    const { metadata } = await api.create({
      apiVersion: 'example.org/v1',
      kind: 'Rollout',
      metadata: { name: 'r', namespace: 'shop' },
    })
    const owner = { apiVersion: 'example.org/v1', kind: 'Rollout', name: 'r', uid: metadata.uid as string }
    await api.create(podOnNode('of-rollout', { ownerReferences: [{ ...owner, controller: true }] }))
    t.equal(await view.waitForPod({ ...wanted('of-rollout'), withOwner: true }, 10_000), true)
    t.strictSame(view.pod(wanted('of-rollout'))?.owner, owner)
    t.equal(await view.ownerExists('shop', owner), 'exists')
    await api.request('DELETE', '/apis/example.org/v1/namespaces/shop/rollouts/r')
    t.equal(await view.ownerExists('shop', owner), 'gone')
    await api.request('DELETE', `${podsOf}/of-rollout`)
  })
})

t.test('a server that goes and comes', { skip: missing('cluster') }, async t => {
  const { api } = await followedShop(t)
  await api.create(podOnNode('stays', { annotations: { 'ipkeeper.io/ip': '10.22.0.50' } }))
  await api.create(podOnNode('goes'))
  const timing = { idleLimit: 1500 }
  const limits = { timeout: 1500 }

  await t.test('is away: what is known goes on serving, and what is made after it is seen', async t => {
    const { cluster, view, lines } = followCluster(t, api.kubeconfig)
    await connected(cluster)
    t.equal(await view.waitForPod(wanted('stays'), 10_000), true)
    // Asked to stop, it would wait a minute for those who watch.
    await api.stop('SIGKILL')
    await until('it is noticed', () => !cluster.status().connected)
    t.match(view.pod(wanted('stays')), { annotations: { 'ipkeeper.io/ip': '10.22.0.50' } })
    t.equal(view.node('worker-1'), 'present')
    t.equal(
      await view.ownerExists('shop', { apiVersion: 'v1', kind: 'Pod', name: 'stays', uid: 'u' }),
      'unknown',
    )
    const waiting = view.waitForPod(wanted('after'), 30_000)
    await api.start()
    await api.create(podOnNode('after'))
    t.equal(await waiting, true)
    await connected(cluster)
    const told = lines.filter(({ resource }) => resource === 'pods').map(({ level }) => level)
    t.ok(
      told.length <= 4 && told[0] === 'warn' && told.at(-1) === 'info',
      `one line for a trouble: ${told.join()}`,
    )
    await api.request('DELETE', `${podsOf}/after`)
  })

  await t.test('takes connections and says nothing', async t => {
    const { cluster, view } = followCluster(t, api.kubeconfig, { timing, limits })
    await connected(cluster)
    t.equal(await view.waitForPod(wanted('stays'), 10_000), true)
    api.freeze()
    await until('it is given up', () =>
      cluster.status().watches.some(({ lastError }) => lastError !== undefined),
    )
    api.thaw()
    const waiting = view.waitForPod(wanted('thawed'), 30_000)
    await api.create(podOnNode('thawed'))
    t.equal(await waiting, true)
    await api.request('DELETE', `${podsOf}/thawed`)
  })

  await t.test(
    'has forgotten where we were: everything is listed again, and what has gone is seen to be gone',
    async t => {
      const { hostname, port } = new URL(api.url)
      const relay = await startTcpRelay(t, { host: hostname, port: Number(port) })
      const kubeconfig = `${t.testdir({})}/kubeconfig`
      writeFileSync(
        kubeconfig,
        stringify({
          clusters: [
            {
              name: 'c',
              cluster: {
                server: `https://127.0.0.1:${relay.port}`,
                'tls-server-name': 'kubernetes',
                'certificate-authority-data': readFileSync(api.caFile).toString('base64'),
              },
            },
          ],
          users: [{ name: 'u', user: { token: api.adminToken } }],
          contexts: [{ name: 'test', context: { cluster: 'c', user: 'u' } }],
          'current-context': 'test',
        }),
      )
      const { cluster, view } = followCluster(t, kubeconfig)
      await connected(cluster)
      t.equal(await view.waitForPod(wanted('goes'), 10_000), true)
      relay.block()
      await until('it is noticed', () => !cluster.status().connected)
      await api.request('DELETE', `${podsOf}/goes`)
      const { metadata } = await api.create(podOnNode('goes'))
      await api.request('DELETE', `${podsOf}/stays`)
      await api.stop('SIGKILL')
      await api.compact()
      await api.start()
      t.not(view.pod(wanted('stays')), undefined, 'nobody told us yet')
      relay.open()
      t.equal(await view.waitForPod(wanted('goes', metadata.uid as string), 40_000), true, 'its successor')
      t.equal(view.pod(wanted('stays')), undefined)
      await connected(cluster)
      t.equal(cluster.status().counts.pods, 1)
    },
  )

  await t.test('a token that is renewed in its file', async t => {
    const tokenFile = `${t.testdir({})}/token`
    writeFileSync(tokenFile, 'of-nobody')
    const { cluster, lines } = followCluster(t, api.kubeconfigFor({ tokenFile }))
    await until('refused', () => cluster.status().watches[0]?.lastError !== undefined)
    t.match(cluster.status().watches[0]?.lastError?.message, /401 Unauthorized/)
    t.notMatch(JSON.stringify([lines, cluster.status()]), 'of-nobody', 'no secret is told')
    writeFileSync(tokenFile, `${api.adminToken}\n`)
    await connected(cluster)
    t.notMatch(JSON.stringify([lines, cluster.status()]), api.adminToken, 'no secret is told')
  })

  await t.test('a client certificate', async t => {
    const credentials = await api.clientCertificate('somebody', 'system:masters')
    const { cluster, view } = followCluster(t, api.kubeconfigFor(credentials))
    await connected(cluster)
    t.equal(await view.waitForPod(wanted('goes'), 10_000), true)
  })
})

t.test('a cluster with controllers', { skip: missing('cluster', 'controllers') }, async t => {
  const api = await startCluster(t, { controllers: workloadControllers })
  await api.create(shop)
  await startNodeDouble(t, api, ['worker-1'])
  const { view } = followCluster(t, api.kubeconfig)
  const ownerOf = (object: ApiObject): Owner => ({
    apiVersion: object['apiVersion'] as string,
    kind: object['kind'] as string,
    name: object['metadata'].name as string,
    uid: uidOf(object),
  })
  const podOf = async (app: string): Promise<string> => {
    const list = await api.until(`${podsOf}?labelSelector=app%3D${app}`, ({ items }) =>
      (items as ApiObject[]).some(({ spec }) => spec.nodeName === 'worker-1'),
    )
    return (list['items'] as ApiObject[])[0]?.['metadata'].name as string
  }
  const podTemplate = (app: string, rest: object = {}): object => ({
    metadata: { labels: { app } },
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{ name: 'main', image: 'localhost/none' }],
      ...rest,
    },
  })
  const forerunner = {
    'ipkeeper.generals.space/ip_pool': '10.22.0.60/24,10.22.0.61/24',
    'ipkeeper.generals.space/gateway': '10.22.0.1',
  }
  const workload = (kind: string, app: string, spec: object, annotations: object = {}): ApiObject => ({
    apiVersion: kind.endsWith('Job') ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: { name: app, namespace: 'shop', annotations },
    spec: { ...(kind.endsWith('Job') ? {} : { selector: { matchLabels: { app } } }), ...spec },
  })
  const cronJob = await api.create(
    workload('CronJob', 'nightly', {
      schedule: '0 0 1 1 *',
      jobTemplate: { spec: { template: podTemplate('nightly', { restartPolicy: 'Never' }) } },
    }),
  )
  for (const [what, manifest, top, ordinalsStart] of [
    [
      'a StatefulSet that counts from 3',
      workload('StatefulSet', 'db', {
        replicas: 1,
        serviceName: 'db',
        ordinals: { start: 3 },
        template: podTemplate('db'),
      }),
      undefined,
      3,
    ],
    [
      'a Deployment, through its ReplicaSet, with the annotations of the forerunner',
      workload('Deployment', 'front', { replicas: 1, template: podTemplate('front') }, forerunner),
      undefined,
      undefined,
    ],
    [
      'a DaemonSet',
      workload('DaemonSet', 'agent', {
        template: podTemplate('agent', { tolerations: [{ operator: 'Exists' }] }),
      }),
      undefined,
      undefined,
    ],
    [
      'a Job',
      workload('Job', 'once', { template: podTemplate('once', { restartPolicy: 'Never' }) }),
      undefined,
      undefined,
    ],
    [
      'a CronJob, through its Job',
      {
        ...workload('Job', 'nightly-1', { template: podTemplate('nightly-1', { restartPolicy: 'Never' }) }),
        metadata: {
          name: 'nightly-1',
          namespace: 'shop',
          ownerReferences: [{ ...ownerOf(cronJob), controller: true }],
        },
      },
      cronJob,
      undefined,
    ],
  ] as const) {
    const created = await api.create(manifest)
    const app = (manifest['metadata'] as { name: string }).name
    const name = await podOf(app)
    t.equal(await view.waitForPod({ ...wanted(name), withOwner: true }, 10_000), true, what)
    const pod = view.pod(wanted(name))
    const expected = { ...ownerOf(top ?? created), ...(ordinalsStart !== undefined && { ordinalsStart }) }
    t.strictSame(pod?.owner, expected, what)
    t.strictSame(pod?.annotations, app === 'front' ? forerunner : {}, `${what}: annotations`)
    t.equal(await view.ownerExists('shop', expected), 'exists')
  }
})

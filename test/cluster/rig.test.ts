/** What the other tests of this folder stand on does what a cluster does, and can be made to misbehave. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import type { ApiObject, ClusterClient, WatchEvent } from '../rigs/cluster-client.ts'
import { startCluster, workloadControllers } from '../rigs/cluster.ts'
import { startNodeDouble } from '../rigs/node-double.ts'
import { startPrivateHost } from '../rigs/private-host.ts'
import { missing } from '../rigs/requirements.ts'

const podsOf = '/api/v1/namespaces/shop/pods'

const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }

const containers = [{ name: 'main', image: 'localhost/none' }]

const pod = (name: string): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'shop' },
  spec: { containers },
})

const itemsOf = (list: ApiObject): readonly ApiObject[] => list['items'] as ApiObject[]

const namesOf = (list: ApiObject): unknown => itemsOf(list).map(item => item['metadata'].name)

const versionOf = (object: ApiObject): string => object['metadata'].resourceVersion as string

/** The first event of pods since a version that is no bookmark. */
async function firstEvent(client: ClusterClient, since: string): Promise<WatchEvent | undefined> {
  const events = client.watch(`${podsOf}?resourceVersion=${since}&timeoutSeconds=60`)
  for await (const event of events) if (event.type !== 'BOOKMARK') return event
  return undefined
}

const refused = (t: Test, request: Promise<unknown>, status: number, what: string): Promise<unknown> =>
  t.rejects(request, { name: 'RefusedError', status }, what)

t.test('a cluster without controllers', { skip: missing('cluster') }, async t => {
  const cluster = await startCluster(t)
  await cluster.create(shop)
  const beginning = versionOf(await cluster.request('GET', podsOf))

  await t.test('keeps what is created, lists and watches it', async t => {
    await cluster.create(pod('web-0'))
    t.strictSame(namesOf(await cluster.request('GET', podsOf)), ['web-0'])
    t.match(await firstEvent(cluster, beginning), {
      type: 'ADDED',
      object: { metadata: { name: 'web-0' } },
    })
    await refused(t, cluster.create(pod('web-0')), 409, 'the same again')
  })

  await t.test('knows its users, and what they may do', async t => {
    const reader = { name: 'reader', namespace: 'shop' }
    const rbac = 'rbac.authorization.k8s.io'
    await cluster.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: reader })
    await cluster.create({
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: reader,
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }],
    })
    await cluster.create({
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: reader,
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'reader' },
      subjects: [
        { kind: 'ServiceAccount', ...reader },
        { apiGroup: rbac, kind: 'Group', name: 'readers' },
      ],
    })
    const users = {
      'a service account': { token: await cluster.serviceAccountToken('shop', 'reader', 600) },
      'a certificate': await cluster.clientCertificate('somebody', 'readers'),
    }
    for (const [what, credentials] of Object.entries(users)) {
      const user = cluster.as(credentials)
      t.strictSame(namesOf(await user.request('GET', podsOf)), ['web-0'], `${what}: what a role allows`)
      await refused(t, user.request('GET', '/api/v1/namespaces/shop/secrets'), 403, `${what}: secrets`)
    }
    await refused(t, cluster.as({ token: 'of nobody' }).request('GET', podsOf), 401, 'an unknown token')
  })

  await t.test('writes kubeconfigs', t => {
    const tokenFile = '/run/token'
    t.match(parse(readFileSync(cluster.kubeconfigFor({ tokenFile }), 'utf8')), {
      clusters: [{ cluster: { server: cluster.url, 'certificate-authority': cluster.caFile } }],
      users: [{ user: { tokenFile } }],
    })
    t.end()
  })

  await t.test('can answer late', async t => {
    cluster.freeze()
    let answered = false
    const answer = cluster.request('GET', podsOf).finally(() => (answered = true))
    const { hostname, port } = new URL(cluster.url)
    const connection = connect(Number(port), hostname)
    await once(connection, 'connect')
    connection.destroy()
    await delay(200)
    t.notOk(answered, 'connections are taken, and nothing else')
    cluster.thaw()
    t.strictSame(namesOf(await answer), ['web-0'])
  })

  await t.test('is there for a private host, too', { skip: missing('namespaces') }, async t => {
    const host = await startPrivateHost()
    t.teardown(() => host.close())
    await cluster.exposeIn(host)
    const script = 'fetch(process.argv[1]).then(reply => reply.text()).then(console.log)'
    const url = `${cluster.url}/livez`
    const env = { NODE_EXTRA_CA_CERTS: cluster.caFile }
    t.equal(await host.must(process.execPath, ['-e', script, url], { env }), 'ok\n')
  })

  await t.test('can go away and come back, with its data and without its history', async t => {
    await cluster.stop()
    await t.rejects(cluster.request('GET', podsOf), { code: 'ECONNREFUSED' })
    await cluster.compact()
    await cluster.start()
    t.strictSame(namesOf(await cluster.request('GET', podsOf)), ['web-0'])
    t.match(await firstEvent(cluster, beginning), { type: 'ERROR', object: { code: 410, reason: 'Expired' } })
  })
})

t.test('a cluster with controllers', { skip: missing('cluster', 'controllers') }, async t => {
  const flags = ['--watch-cache=false']
  const cluster = await startCluster(t, { flags, controllers: workloadControllers })
  await cluster.create(shop)
  await startNodeDouble(t, cluster, ['worker-1', 'worker-2'])
  const beginning = versionOf(await cluster.request('GET', podsOf))
  const set = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'shop' },
    spec: {
      replicas: 2,
      serviceName: 'web',
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers } },
    },
  }
  const { uid } = (await cluster.create(set))['metadata']

  const isRunning = (item: ApiObject): boolean => item['status'].phase === 'Running'
  const running = await cluster.until(podsOf, list => itemsOf(list).filter(isRunning).length === 2)
  t.strictSame(namesOf(running), ['web-0', 'web-1'])
  for (const { metadata, spec } of itemsOf(running)) {
    t.match(metadata.ownerReferences, [{ kind: 'StatefulSet', name: 'web', uid, controller: true }])
    t.match(spec.nodeName, /^worker-[12]$/)
  }

  const [first] = itemsOf(running)
  await cluster.request('DELETE', `${podsOf}/web-0`)
  const again = await cluster.until(
    `${podsOf}/web-0`,
    item => item['metadata'].uid !== first?.['metadata'].uid && isRunning(item),
  )
  t.equal(again['metadata'].name, 'web-0', 'a deleted pod comes again, as another')

  await cluster.request('DELETE', '/apis/apps/v1/namespaces/shop/statefulsets/web')
  await cluster.until(podsOf, list => itemsOf(list).length === 0)
  t.pass('the pods of a deleted set go')

  await cluster.compact()
  t.match(
    await firstEvent(cluster, beginning),
    { type: 'ERROR', object: { code: 410 } },
    'without a cache of its own the server forgets as soon as etcd does',
  )
})

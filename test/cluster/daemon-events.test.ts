/** What a pod is told of its addresses: Events, as `kubectl describe pod` shows them. */
import t from 'tap'
import { parse } from 'yaml'
import {
  createPod,
  grantRights,
  rbacObjects,
  startClusterNode,
  type RuntimePod,
  statefulSet,
} from '../rigs/cluster-node.ts'
import type { ApiObject } from '../rigs/cluster-client.ts'
import type { Cluster } from '../rigs/cluster.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('cluster', 'executables')

const eventsOfShop = '/apis/events.k8s.io/v1/namespaces/shop/events'

const itemsOf = (list: ApiObject): readonly ApiObject[] => list['items'] as ApiObject[]

/** The Events on a pod once they are as wanted, in the order of their making. */
async function eventsOf(
  cluster: Cluster,
  { name, uid }: RuntimePod,
  wanted: (events: readonly ApiObject[]) => boolean,
): Promise<readonly ApiObject[]> {
  const of = (list: ApiObject): readonly ApiObject[] =>
    itemsOf(list)
      .filter(({ regarding }) => regarding.kind === 'Pod' && regarding.name === name && regarding.uid === uid)
      .sort((a, b) => (String(a['eventTime']) < String(b['eventTime']) ? -1 : 1))
  return of(await cluster.until(eventsOfShop, list => wanted(of(list))))
}

const some = (count: number) => (events: readonly ApiObject[]) => events.length === count

t.test('Events on pods', { skip }, async t => {
  const cluster = await startPreparedCluster(t)
  const node = await startClusterNode(t, cluster)

  await t.test('what a pod got, and why', async t => {
    const web = await createPod(cluster, 'web-0', { 'ipkeeper.io/ip': '10.22.0.50' })
    await node.add(web)
    t.match(await eventsOf(cluster, web, some(1)), [
      {
        type: 'Normal',
        reason: 'AddressAssigned',
        action: 'AssignAddress',
        note: /^10\.22\.0\.50\/24 \(.*annotation ipkeeper\.io\/ip/,
        reportingController: 'ipkeeper.io/ipkeeper-server',
        reportingInstance: 'worker-1',
      },
    ])
  })

  await t.test('why it got none, and how often it was tried', async t => {
    const intruder = await createPod(cluster, 'intruder', { 'ipkeeper.io/ip': '10.22.0.50' })
    const refused = await node.add(intruder)
    t.match(refused, { code: 101 })
    const [first] = await eventsOf(cluster, intruder, some(1))
    t.match(first, {
      type: 'Warning',
      reason: 'AddressHeld',
      note: /10\.22\.0\.50.*shop\/web-0.*ipkeeperctl leases/,
    })
    await node.add(intruder)
    await node.add(intruder)
    const [again] = await eventsOf(cluster, intruder, ([event]) => event?.['series']?.count === 3)
    t.equal(again?.['metadata'].uid, first?.['metadata'].uid, 'one object, that counts')

    await cluster.request('PATCH', '/api/v1/namespaces/shop/pods/intruder', {
      metadata: { annotations: { 'ipkeeper.io/ip': '192.0.2.7' } },
    })
    let outcome = await node.add(intruder)
    for (let tries = 0; 'code' in outcome && outcome.code === 101 && tries < 20; tries++)
      outcome = await node.add(intruder)
    t.match(outcome, { code: 104 })
    const both = await eventsOf(cluster, intruder, some(2))
    t.match(both[1], { reason: 'AddressOutside', note: /192\.0\.2\.7/ }, 'another reason is another Event')
  })

  await t.test('an annotation on the StatefulSet, where no pod sees it', async t => {
    const set = await cluster.create(
      statefulSet('db', { annotations: { 'ipkeeper.io/ips': '10.22.0.60-10.22.0.62' } }),
    )
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', controller: true }
    const { metadata } = await cluster.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'db-0',
        namespace: 'shop',
        ownerReferences: [{ ...owner, uid: set['metadata'].uid as string }],
      },
      spec: { nodeName: 'worker-1', containers: [{ name: 'main', image: 'localhost/none' }] },
    })
    const pod = { name: 'db-0', uid: String(metadata.uid) }
    t.match(await eventsOf(cluster, pod, some(1)), [
      {
        type: 'Warning',
        reason: 'MisplacedAnnotation',
        note: /StatefulSet shop\/db: .*ipkeeper\.io\/ips is in metadata\.annotations and belongs in spec\.template\.metadata\.annotations/,
      },
    ])
  })
})

t.test('where Events are forbidden', { skip }, async t => {
  const cluster = await startPreparedCluster(t)
  const isEvents = ({ resources }: { resources: string[] }): boolean => resources.includes('events')
  await grantRights(
    cluster,
    rbacObjects().map(object => ({
      ...object,
      ...(object['rules'] && {
        rules: (object['rules'] as { resources: string[] }[]).filter(rule => !isEvents(rule)),
      }),
    })),
  )
  const node = await startClusterNode(t, cluster)
  const web = await createPod(cluster, 'web-0', { 'ipkeeper.io/ip': '10.22.0.50' })
  t.match(await node.add(web), { ips: ['10.22.0.50/24'] }, 'the address is given all the same')
  const { kubernetes } = await node.untilStatus(({ events }) => events.dropped === 1)
  t.match(kubernetes, {
    connected: true,
    missingRights: [
      { verb: 'create', resource: 'events', why: 'to tell on the pod what was decided, and why' },
      { verb: 'patch', resource: 'events' },
    ],
  })
  const { stdout } = await node.daemon.control('status')
  t.match(stdout, /may not create events: to tell on the pod what was decided, and why/)
  t.match(stdout, /- apiGroups: \["events\.k8s\.io"\]\n\s*resources: \[events\]\n\s*verbs: \[create, patch\]/)
  t.strictSame(itemsOf(await cluster.request('GET', eventsOfShop)), [])

  await t.test('what status says to add is enough', async t => {
    const [, rules = ''] = stdout.split(/^.*add to its ClusterRole:\n/m)
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/ipkeeper'
    const present = (await cluster.request('GET', role))['rules'] as object[]
    await cluster.request('PATCH', role, { rules: [...present, ...(parse(rules) as object[])] })
    await node.add(await createPod(cluster, 'web-1'))
    await node.untilStatus(({ events }) => events.written === 1)
    t.match(itemsOf(await cluster.request('GET', eventsOfShop)), [{ reason: 'AddressAssigned' }])
    await node.untilStatus(({ missingRights }) => missingRights?.length === 0)
  })
})

/** What is told on pods of a real cluster, as people and kubectl see it. */
import t from 'tap'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { statefulSet } from '../rigs/cluster-node.ts'
import { startCluster } from '../rigs/cluster.ts'
import { followCluster, podOnNode } from '../rigs/followed-cluster.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'

t.test('events', { skip: missing('cluster') }, async t => {
  const api = await startCluster(t)
  await api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  await api.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' } })
  const events = async (name: string): Promise<ApiObject[]> => {
    const path = `/api/v1/namespaces/shop/events?fieldSelector=involvedObject.name%3D${name}`
    return (await api.request('GET', path))['items'] as ApiObject[]
  }
  const told = async (
    name: string,
    holds: (found: readonly ApiObject[]) => boolean,
  ): Promise<ApiObject[]> => {
    await until(`events on ${name}`, async () => holds(await events(name)))
    return await events(name)
  }

  await t.test('one for each, with its repetitions, where kubectl looks for them', async t => {
    const { cluster, lines } = followCluster(t, api.kubeconfig)
    const { metadata } = await api.create(podOnNode('web-0'))
    const pod = { namespace: 'shop', name: 'web-0', uid: metadata.uid as string }
    const refused = {
      type: 'Warning',
      reason: 'AddressRefused',
      action: 'Add',
      message: `10.22.0.50 is held by shop/web-1 ${'ä'.repeat(2000)}`,
    } as const
    cluster.events.record(pod, {
      type: 'Normal',
      reason: 'AddressGiven',
      action: 'Add',
      message: 'got 10.22.0.50',
    })
    cluster.events.record(pod, refused)
    await told('web-0', ({ length }) => length === 2)
    for (let at = 0; at < 3; at++) cluster.events.record(pod, refused)
    const found = await told('web-0', list => list.some(({ series }) => series?.count === 4))
    t.equal(found.length, 2, 'a repetition is no new event')
    const given = found.find(({ reason }) => reason === 'AddressGiven')
    // By core v1: the same object as older readers see it.
    t.match(given, {
      type: 'Normal',
      message: 'got 10.22.0.50',
      action: 'Add',
      involvedObject: { kind: 'Pod', namespace: 'shop', name: 'web-0', uid: pod.uid },
      reportingComponent: 'ipkeeper.io/ipkeeper-server',
      reportingInstance: 'worker-1',
    })
    t.equal(cluster.status().events.dropped, 0)
    t.notOk(lines.some(({ message }) => /Event/.test(String(message))))
  })

  await t.test('a namespace that does not exist takes none, and that disturbs nobody', async t => {
    const { cluster } = followCluster(t, api.kubeconfig)
    const event = { type: 'Normal', reason: 'AddressGiven', action: 'Add', message: 'm' } as const
    cluster.events.record({ namespace: 'nowhere', name: 'a', uid: null }, event)
    cluster.events.record({ namespace: 'shop', name: 'web-9', uid: null }, event)
    await told('web-9', ({ length }) => length === 1)
    t.strictSame(cluster.status().events, { queued: 0, written: 1, dropped: 1 })
  })

  await t.test('an annotation on the StatefulSet instead of its template, once', async t => {
    const { cluster } = followCluster(t, api.kubeconfig)
    const set = await api.create(
      statefulSet('db', { annotations: { 'ipkeeper.io/ips': '10.22.0.50-10.22.0.52' } }),
    )
    const ownerReferences = [
      { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', uid: set['metadata'].uid, controller: true },
    ]
    await api.create(podOnNode('db-0', { ownerReferences }))
    const [event] = await told('db-0', ({ length }) => length > 0)
    t.match(event, {
      type: 'Warning',
      reason: 'MisplacedAnnotation',
      message:
        'StatefulSet shop/db: no pod sees what is written there: ipkeeper.io/ips is in metadata.annotations and belongs in spec.template.metadata.annotations',
    })
    await api.create(podOnNode('db-1', { ownerReferences }))
    t.equal(
      await cluster.view.waitForPod({ namespace: 'shop', name: 'db-1', uid: null, withOwner: true }, 10_000),
      true,
    )
    cluster.events.record(
      { namespace: 'shop', name: 'db-1', uid: null },
      { type: 'Normal', reason: 'Last', action: 'Add', message: 'm' },
    )
    const after = await told('db-1', ({ length }) => length > 0)
    t.strictSame(
      after.map(({ reason }) => reason as string),
      ['Last'],
    )
  })
})

/** Addresses of workloads whose pods real controllers make: StatefulSets, Deployments, Jobs. */
import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import {
  createNamespace,
  startClusterNode,
  type Answer,
  type ClusterNode,
  type RuntimePod,
} from '../rigs/cluster-node.ts'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { startCluster, workloadControllers, type Cluster } from '../rigs/cluster.ts'
import { startNodeDouble } from '../rigs/node-double.ts'
import { missing } from '../rigs/requirements.ts'
import type { Scope } from '../rigs/teardown.ts'

const skip = missing('cluster', 'controllers', 'executables')

const podsOf = '/api/v1/namespaces/shop/pods'
const listOf = (from: number, to: number) => ({ 'ipkeeper.io/ips': `10.22.0.${from}-10.22.0.${to}` })
const gets = (address: string) => ({ ips: [`${address}/24`] })

/** A workload of namespace shop whose pods bear these annotations. */
function workload(kind: string, name: string, annotations: Record<string, string>, spec: object): ApiObject {
  const labels = { app: name }
  const restart = kind === 'Job' ? { restartPolicy: 'Never' } : {}
  return {
    apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
    kind,
    metadata: { name, namespace: 'shop' },
    spec: {
      ...(kind !== 'Job' && { selector: { matchLabels: labels } }),
      template: {
        metadata: { labels, annotations },
        spec: { containers: [{ name: 'main', image: 'localhost/none' }], ...restart },
      },
      ...spec,
    },
  }
}

interface Site {
  readonly cluster: Cluster
  readonly node: ClusterNode
  /** The pods of a workload as the runtime would name them, as soon as there are so many; by name. */
  readonly pods: (app: string, count: number) => Promise<readonly RuntimePod[]>
  readonly scale: (resource: string, name: string, replicas: number) => Promise<unknown>
}

const itemsOf = (list: ApiObject): readonly ApiObject[] => list['items'] as ApiObject[]

async function makeSite(t: Scope): Promise<Site> {
  const cluster = await startCluster(t, { controllers: workloadControllers })
  await createNamespace(cluster, 'shop')
  await startNodeDouble(t, cluster, ['worker-1'])
  const node = await startClusterNode(t, cluster)
  return {
    cluster,
    node,
    pods: async (app, count) => {
      const isUp = ({ metadata, status }: ApiObject): boolean =>
        metadata.deletionTimestamp === undefined && status.phase === 'Running'
      const list = await cluster.until(
        `${podsOf}?labelSelector=app%3D${app}`,
        got => itemsOf(got).length === count && itemsOf(got).every(isUp),
      )
      return itemsOf(list).map(({ metadata }) => ({
        name: String(metadata.name),
        uid: String(metadata.uid),
      }))
    },
    scale: (resource, name, replicas) =>
      cluster.request('PATCH', `/apis/apps/v1/namespaces/shop/${resource}/${name}`, { spec: { replicas } }),
  }
}

const containerOf = (answer: Answer): string => answer.container

t.test('workloads', { skip }, async t => {
  const { cluster, node, pods, scale } = await makeSite(t)

  await t.test(
    'a StatefulSet: each ordinal its place in the list, from the ordinal it starts with',
    async t => {
      const spec = { replicas: 2, serviceName: 'web', ordinals: { start: 5 } }
      await cluster.create(workload('StatefulSet', 'web', listOf(50, 52), spec))
      const [web5, web6] = (await pods('web', 2)) as [RuntimePod, RuntimePod]
      t.equal(web6.name, 'web-6')
      // Not in their order: no pod takes what is another's.
      const second = await node.add(web6)
      t.match(second, gets('10.22.0.51'))
      t.match(await node.add(web5), gets('10.22.0.50'))

      await t.test('kept over scaling down and up', async t => {
        await scale('statefulsets', 'web', 1)
        await pods('web', 1)
        await node.del(web6, containerOf(second))
        await scale('statefulsets', 'web', 3)
        const [, again, web7] = (await pods('web', 3)) as [RuntimePod, RuntimePod, RuntimePod]
        t.equal(again.name, web6.name)
        t.not(again.uid, web6.uid)
        t.match(await node.add(web7), gets('10.22.0.52'))
        t.match(await node.add(again), gets('10.22.0.51'))
      })

      await t.test('one that is beyond the list', async t => {
        await scale('statefulsets', 'web', 4)
        const web8 = (await pods('web', 4))[3]!
        t.match(await node.add(web8), {
          code: 134,
          msg: /pod shop\/web-8 has ordinal 8 \(spec\.ordinals\.start 5\), but annotation ipkeeper\.io\/ips lists 3 addresses/,
        })
      })

      await t.test('while the former pod is not gone', async t => {
        await cluster.request('DELETE', `${podsOf}/web-5`)
        const [reborn] = await pods('web', 4)
        t.not(reborn?.uid, web5.uid)
        t.match(await node.add(reborn!), {
          code: 11,
          msg: /10\.22\.0\.50.*shop\/web-5/,
          details: /IPK_HOLDER_LIVE/,
        })
      })
    },
  )

  await t.test('an ADD that is there before its pod waits for the first ordinal, too', async t => {
    // A runtime that tells no UID may ask for a pod that the API does not have yet.
    const adding = node.add({ name: 'queue-7', uid: '' })
    await delay(500)
    const spec = { replicas: 1, serviceName: 'queue', ordinals: { start: 7 } }
    await cluster.create(workload('StatefulSet', 'queue', listOf(60, 69), spec))
    t.match(await adding, gets('10.22.0.60'))
  })

  await t.test(
    'a Deployment with a list: each pod any of them, and a roll-out that has none left',
    async t => {
      const spec = { replicas: 2, strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }
      await cluster.create(workload('Deployment', 'api', listOf(80, 81), spec))
      const old = await pods('api', 2)
      const had = [await node.add(old[0]!), await node.add(old[1]!)]
      t.match(had, [gets('10.22.0.80'), gets('10.22.0.81')])

      await cluster.request('PATCH', '/apis/apps/v1/namespaces/shop/deployments/api', {
        spec: { template: { metadata: { annotations: { 'example.com/restarted': 'now' } } } },
      })
      await cluster.until(
        '/apis/apps/v1/namespaces/shop/deployments/api',
        // Until the controller has seen the new template, its status counts pods of the former one.
        ({ metadata, status }) =>
          Number(status.observedGeneration) >= Number(metadata.generation) && status.updatedReplicas === 2,
      )
      const fresh = await pods('api', 2)
      t.notOk(fresh.some(({ name }) => old.some(pod => pod.name === name)))
      t.match(
        await node.add(fresh[0]!),
        {
          code: 11,
          msg: /lists 10\.22\.0\.80-10\.22\.0\.81, and all 2 addresses are taken: 10\.22\.0\.80 by .*shop\/api-/,
          details: /older pods of Deployment shop\/api.*maxSurge 0.*IPK_CANDIDATES_BUSY/,
        },
        'the sandboxes of the old pods are still there',
      )
      await node.del(old[1]!, containerOf(had[1]!))
      t.match(await node.add(fresh[0]!), gets('10.22.0.81'), 'one of them is gone')
      await node.del(old[0]!, containerOf(had[0]!))
      t.match(await node.add(fresh[1]!), gets('10.22.0.80'))
    },
  )

  await t.test("the forerunner's syntax, on the Deployment itself", async t => {
    const migrated = await startClusterNode(t, cluster, { config: { annotations: ['crd-ipkeeper'] } })
    const deployment = workload('Deployment', 'legacy', {}, { replicas: 2 })
    deployment['metadata'].annotations = {
      'ipkeeper.generals.space/ip_pool': '10.22.0.101/24,10.22.0.102/24',
      'ipkeeper.generals.space/gateway': '10.22.0.1',
    }
    const file = migrated.folder.file('legacy.json')
    writeFileSync(file, JSON.stringify(deployment))
    t.match(await migrated.explain('--manifest', file), [{ addresses: ['10.22.0.101/24'] }])
    await cluster.create(deployment)
    const [one, other] = (await pods('legacy', 2)) as [RuntimePod, RuntimePod]
    t.match(await migrated.add(one), gets('10.22.0.101'))
    t.match(await migrated.add({ ...other, passedOn: {} }), gets('10.22.0.102'), 'no runtime passes it on')
    const stranger = { name: 'stranger', uid: 'nobodys', passedOn: {} }
    t.match(await migrated.add(stranger), {
      code: 11,
      msg: 'the controller of pod shop/stranger is not known',
    })
    t.match(
      await node.add({ ...other, passedOn: {} }),
      { ips: [/^10\.22\.0\.\d\/24$/] },
      'without that dialect',
    )
  })

  await t.test('a Job from a list', async t => {
    await cluster.create(workload('Job', 'import', listOf(90, 91), { parallelism: 2, completions: 2 }))
    const [one, other] = (await pods('import', 2)) as [RuntimePod, RuntimePod]
    t.match([await node.add(one), await node.add(other)], [gets('10.22.0.90'), gets('10.22.0.91')])
  })
})

/** Retention "while-owner-exists" against a real API server: kept as long as the very owner is there, or nobody can tell. */
import t from 'tap'
import type { LeaseRecord } from '../../ipkeeper-server/ipam/records/records.ts'
import type { ClusterView } from '../../ipkeeper-server/kubernetes/cluster-view.ts'
import { addAttachment } from '../../ipkeeper-server/leases/verbs/add.ts'
import { delAttachment } from '../../ipkeeper-server/leases/verbs/del.ts'
import { OwnerWatch } from '../../ipkeeper-server/leases/tasks/owner-watch.ts'
import type { LeaseService } from '../../ipkeeper-server/leases/verbs/service.ts'
import { spell, TestService } from '../ipkeeper-server/leases/test-service.ts'
import { grantRights, ipkeeperToken, statefulSet } from '../rigs/cluster-node.ts'
import { followCluster, podOnNode } from '../rigs/followed-cluster.ts'
import { until } from '../rigs/poll.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'

const setsOf = '/apis/apps/v1/namespaces/shop/statefulsets'
const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/ipkeeper'

t.test('addresses that are kept for an owner', { skip: missing('cluster') }, async t => {
  const api = await startPreparedCluster(t)
  await grantRights(api)
  const kubeconfig = api.kubeconfigFor({ token: await ipkeeperToken(api) })
  const { view } = followCluster(t, kubeconfig)
  const story = await TestService.open()
  const service: LeaseService = {
    ...story.service,
    ownerOf: holder =>
      holder.kind === 'pod'
        ? view.pod({ namespace: holder.namespace, name: holder.name, uid: null })?.owner
        : undefined,
  }

  /** How often the API was asked for an owner, and what came of it, newest last. */
  const answers: string[] = []
  const released: string[] = []
  const cluster: Pick<ClusterView, 'ownerExists'> = {
    ownerExists: async (namespace, owner) => {
      const answer = await view.ownerExists(namespace, owner)
      answers.push(`${owner.name} ${answer}`)
      return answer
    },
  }
  const watch = new OwnerWatch({
    ...{ service, cluster, interval: 20 },
    onReleased: ({ address }: LeaseRecord) => released.push(address),
    onError: error => t.error(error),
  })
  service.ledger.subscribe({
    kept: () => {
      watch.wake()
    },
  })
  t.teardown(() => watch.stop())
  /** Waits for so many further answers of this kind. */
  const more = async (answer: string, count: number): Promise<void> => {
    const from = answers.length
    await until(
      `${count} times "${answer}"`,
      () => answers.slice(from).filter(each => each === answer).length >= count,
    )
  }

  /** A pod of a set runs and ends: its address is kept from then on. */
  const runAndEnd = async (set: string, toldAt: 'ADD' | 'DEL'): Promise<string> => {
    const { metadata } = await api.create(statefulSet(set))
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: set, uid: metadata.uid as string }
    await api.create(podOnNode(`${set}-0`, { ownerReferences: [{ ...owner, controller: true }] }))
    const wanted = { namespace: 'shop', name: `${set}-0`, uid: null, withOwner: true }
    t.ok(await view.waitForPod(wanted, 20_000))
    const words = { pod: `${set}-0`, container: set, retain: 'while-owner-exists' }
    const told = toldAt === 'ADD' ? view.pod(wanted)?.owner : undefined
    const request = { ...story.request(words), owner: told }
    const plan = await addAttachment(service, request, { gone: () => false })
    await delAttachment(service, request.key, undefined)
    return spell(plan.answer)
  }
  const stateOf = (address: string): string | undefined =>
    service.ledger.lease({ segment: 'default', address })?.state

  const web = await runAndEnd('web', 'ADD')
  const late = await runAndEnd('late', 'DEL')
  await more('web exists', 3)
  await more('late exists', 3)
  t.strictSame([stateOf(web), stateOf(late)], ['held', 'held'], 'while both are there')

  await t.test('nobody can tell: kept', async t => {
    const rules = (await api.request('GET', role))['rules'] as { resources: string[] }[]
    const others = rules.filter(rule => !rule.resources.includes('statefulsets'))
    await api.request('PATCH', role, { rules: others })
    await more('web unknown', 3)
    await api.request('PATCH', role, { rules })
    await more('web exists', 1)
    await api.stop('SIGKILL')
    await more('web unknown', 3)
    await api.start()
    await more('web exists', 1)
    t.strictSame([stateOf(web), stateOf(late), released], ['held', 'held', []])
  })

  await t.test('deleted: released', async t => {
    await api.request('DELETE', `${setsOf}/web`)
    await until('released', () => released.length > 0)
    t.strictSame([released, stateOf(web), stateOf(late)], [[web], 'cooling', 'held'])
  })

  await t.test('deleted, and another made of its name: released', async t => {
    await api.request('DELETE', `${setsOf}/late`)
    await api.create(statefulSet('late'))
    await until('released', () => released.length > 1)
    t.strictSame([released, stateOf(late)], [[web, late], 'cooling'])
  })
})

/** The rights of deploy/rbac/rbac.yaml suffice on a real API server, and each that lacks is named. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { accessRules, type AccessRule } from '../../ipkeeper-server/kubernetes/access-rules.ts'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { statefulSet } from '../rigs/cluster-node.ts'
import { startCluster } from '../rigs/cluster.ts'
import { followCluster, podOnNode } from '../rigs/followed-cluster.ts'
import { until } from '../rigs/poll.ts'
import { missing } from '../rigs/requirements.ts'

const manifest = join(import.meta.dirname, '..', '..', 'deploy', 'rbac', 'rbac.yaml')
const named = ({ group, resource, verb }: AccessRule): string => `${verb} ${group}/${resource}`
const asRule = ({ group, resource, verb }: AccessRule): object => ({
  apiGroups: [group],
  resources: [resource],
  verbs: [verb],
})

t.test('access', { skip: missing('cluster') }, async t => {
  const api = await startCluster(t)
  for (const document of parseAllDocuments(readFileSync(manifest, 'utf8')))
    await api.create(document.toJS() as ApiObject)
  const kubeconfig = api.kubeconfigFor({ token: await api.serviceAccountToken('kube-system', 'ipkeeper') })
  await api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  await api.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' } })
  const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/ipkeeper'
  const grant = (rules: readonly AccessRule[]) => api.request('PATCH', role, { rules: rules.map(asRule) })

  await t.test('with what is granted everything works', async t => {
    const { cluster, view, lines } = followCluster(t, kubeconfig)
    t.strictSame((await cluster.checkAccess()).missing, [])
    const { metadata: set } = await api.create(statefulSet('web'))
    const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: set.uid as string }
    await api.create(podOnNode('web-0', { ownerReferences: [{ ...owner, controller: true }] }))
    const wanted = { namespace: 'shop', name: 'web-0', uid: null, withOwner: true }
    t.equal(await view.waitForPod(wanted, 10_000), true)
    t.strictSame(view.pod(wanted)?.owner, { ...owner, ordinalsStart: 0 })
    t.equal(await view.ownerExists('shop', owner), 'exists')
    t.equal(
      await view.ownerExists('shop', { apiVersion: 'v1', kind: 'Pod', name: 'web-1', uid: 'u' }),
      'gone',
    )
    t.equal(
      await view.ownerExists('shop', { apiVersion: 'example.org/v1', kind: 'X', name: 'x', uid: 'u' }),
      'unknown',
    )
    const event = { type: 'Normal', reason: 'AddressGiven', action: 'Add', message: 'm' } as const
    cluster.events.record({ namespace: 'shop', name: 'web-0', uid: null }, event)
    await until('written', () => cluster.status().events.written === 1)
    cluster.events.record({ namespace: 'shop', name: 'web-0', uid: null }, event)
    await until('patched', () => cluster.status().events.written === 2)
    await until('connected', () => cluster.status().connected)
    t.strictSame(lines, [])
    t.match(cluster.status().access, { missing: [], add: '' })
  })

  await t.test('each right that lacks is named, with the rule to add', async t => {
    const { cluster } = followCluster(t, kubeconfig, { kubernetesStore: true })
    for (const rule of accessRules) {
      await grant(accessRules.filter(other => other !== rule))
      await until(`without ${named(rule)}`, async () => (await cluster.checkAccess()).missing.length > 0)
      const { missing: lacking, add } = await cluster.checkAccess()
      t.strictSame(lacking.map(named), [named(rule)])
      t.strictSame(parse(add), [asRule(rule)])
      await grant(accessRules)
      await until('granted', async () => (await cluster.checkAccess()).missing.length === 0)
    }
  })

  await t.test('a right that lacks at the start is told of, and everything else works', async t => {
    const isMissing = ({ resource }: AccessRule): boolean => ['statefulsets', 'namespaces'].includes(resource)
    await grant(accessRules.filter(rule => !isMissing(rule)))
    const { cluster, view, lines } = followCluster(t, kubeconfig, { watchNamespaces: false })
    await until('known', async () => (await cluster.checkAccess()).missing.length > 0)
    const { cluster: again, lines: told } = followCluster(t, kubeconfig, { watchNamespaces: true })
    await until('told', () => told.some(({ add }) => add !== undefined))
    t.match(
      told.find(({ add }) => add !== undefined),
      {
        level: 'warn',
        missing: [/^list namespaces \(/, /^watch namespaces \(/, /^get statefulsets \(/],
        add: '- apiGroups: [""]\n  resources: [namespaces]\n  verbs: [list, watch]\n- apiGroups: ["apps"]\n  resources: [statefulsets]\n  verbs: [get]\n',
      },
    )
    t.equal(again.status().connected, false)
    t.match(again.status().watches.find(({ resource }) => resource === 'namespaces')?.lastError, {
      message: /403 Forbidden/,
    })

    const wanted = { namespace: 'shop', name: 'web-0', uid: null, withOwner: true }
    t.equal(await view.waitForPod(wanted, 10_000), true)
    t.match(view.pod(wanted)?.owner, { kind: 'StatefulSet', name: 'web' })
    t.equal(
      view.pod(wanted)?.owner?.ordinalsStart,
      undefined,
      'the direct controller, without what only it could tell',
    )
    t.equal(lines.filter(({ resource }) => resource === 'statefulsets').length, 1)
    t.equal(await view.ownerExists('shop', view.pod(wanted)!.owner!), 'unknown')
  })
})

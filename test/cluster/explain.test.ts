/** explain asks the API itself about pods that the caches of this node do not hold. */
import t from 'tap'
import { chooseAccess } from '../../ipkeeper-server/kubernetes/choose-access.ts'
import { Cluster } from '../../ipkeeper-server/kubernetes/cluster.ts'
import { explainAdd } from '../../ipkeeper-server/leases/queries/explain.ts'
import { readingParts } from '../ipkeeper-server/http/app-parts.ts'
import { TestService } from '../ipkeeper-server/leases/test-service.ts'
import { startCluster } from '../rigs/cluster.ts'
import { missing } from '../rigs/requirements.ts'
import { thrownProblem } from '../rigs/thrown-problem.ts'

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'localhost/none' }] },
}

t.test('a pod of another node, and one that does not exist', { skip: missing('cluster') }, async t => {
  const api = await startCluster(t)
  await api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const set = await api.create({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'web', namespace: 'shop' },
    spec: { serviceName: 'web', ordinals: { start: 5 }, selector: { matchLabels: { app: 'web' } }, template },
  })
  const { uid } = set['metadata'] as { readonly uid: string }
  const pod = await api.create({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name: 'web-6', namespace: 'shop', annotations: { 'ipkeeper.io/ips': '10.22.0.50-10.22.0.52' } },
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid, controller: true }],
    },
    spec: { ...template.spec, nodeName: 'n2' },
  })

  const kubernetes = { mode: 'kubeconfig', kubeconfig: api.kubeconfig } as const
  const access = chooseAccess(kubernetes, { env: {}, monotonic: () => performance.now() })
  if (!access) throw new Error('no access')
  const log = { info: () => undefined, warn: () => undefined }
  const cluster = new Cluster({ access, node: 'n1', watchNamespaces: false, log })
  t.teardown(() => cluster.stop())
  const story = await TestService.open()
  const { requests } = readingParts(story.service, {}, { requireAnnotations: true }, cluster.view)
  const config = {
    ...{ cniVersion: '1.0.0', name: 'net', type: 'bridge' },
    ipam: { type: 'ipkeeper', ranges: [[{ subnet: '10.22.0.0/24' }]] },
  }
  const ask = (name: string) =>
    explainAdd(story.service, requests, cluster.view, { config, namespace: 'shop', name })

  t.match(await ask('web-6'), {
    pod: { uid: (pod['metadata'] as { readonly uid: string }).uid },
    annotationsFrom: 'api',
    addresses: ['10.22.0.51/24'],
    steps: [{ subject: 'shop/web-6', text: /^it is not among the pods of this node/ }],
  })
  t.match(await thrownProblem(() => ask('web-0')), {
    code: 'IPK_POD_UNKNOWN',
    message: 'the Kubernetes API has no pod shop/web-0',
  })
  await api.stop()
  t.match(await thrownProblem(() => ask('web-6')), {
    code: 'IPK_FACTS_MISSING',
    message: /^pod shop\/web-6 is not among the pods of this node known .*, and cannot be looked up: \S/,
  })
})

/** deploy/helm/ipkeeper on a real API server, by the real helm: what is there after each command, and what stays when one is refused. */
import { X509Certificate } from 'node:crypto'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { CertificateFiles } from '../../ipkeeper-server/http/webhook/certificate-files.ts'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { createNamespace, createNode, createPod, startClusterNode } from '../rigs/cluster-node.ts'
import { findClusterProgram } from '../rigs/cluster-programs.ts'
import { startCluster, workloadControllers, type Cluster } from '../rigs/cluster.ts'
import { customResourceDefinitions } from '../rigs/custom-resources.ts'
import { chartFolder, openHelm, type Helm } from '../rigs/helm.ts'
import { missing } from '../rigs/requirements.ts'
import { mustRun } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('helm', 'cluster', 'controllers', 'kubectl', 'executables')
const root = join(import.meta.dirname, '..', '..')
const namespace = 'ipkeeper-system'
const definitions = customResourceDefinitions().map(({ metadata }) => metadata.name as string)

const paths = {
  roles: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
  bindings: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  webhooks: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  policies: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
  definitions: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
  leases: '/apis/ipkeeper.io/v1alpha1/ipleases',
} as const

/** Collections of a namespace that a release may have something in. */
const collections = [
  ...['serviceaccounts', 'configmaps', 'services', 'secrets'].map(name => ['/api/v1', name] as const),
  ['/apis/apps/v1', 'daemonsets'] as const,
  ...['roles', 'rolebindings'].map(name => ['/apis/rbac.authorization.k8s.io/v1', name] as const),
]

/** All that the cluster has of ipkeeper, but what the controllers make of it and what Helm keeps for itself. */
async function present(api: Cluster, where = namespace): Promise<readonly string[]> {
  const found: string[] = []
  const look = async (path: string, kind: string): Promise<void> => {
    const { items } = await api.request('GET', path)
    for (const { metadata } of items as ApiObject[])
      if (/^ipkeeper(-|$)|\.ipkeeper\.io$/.test(metadata.name as string))
        found.push(`${kind} ${(metadata.name as string).replace(/-\w{10}$/, '-HASH')}`)
  }
  for (const [base, name] of collections) await look(`${base}/namespaces/${where}/${name}`, name)
  for (const name of ['roles', 'bindings', 'webhooks', 'policies', 'definitions'] as const)
    await look(paths[name], name === 'roles' ? 'clusterroles' : name)
  return found.sort()
}

const ofDefinitions = definitions.map(name => `definitions ${name}`)
const ofRelease = [
  'bindings ipkeeper',
  'clusterroles ipkeeper',
  'configmaps ipkeeper',
  'configmaps ipkeeper-network-HASH',
  'daemonsets ipkeeper',
  'rolebindings ipkeeper-election',
  'roles ipkeeper-election',
  'serviceaccounts ipkeeper',
]
const ofWebhook = ['secrets ipkeeper-webhook', 'services ipkeeper-webhook', 'webhooks ipkeeper']

interface Site {
  readonly api: Cluster
  readonly helm: Helm
  readonly kubectl: (...words: readonly string[]) => Promise<string>
  /** A copy of the chart, to be changed. */
  readonly copy: (name: string) => string
}

async function startSite(t: Parameters<typeof startCluster>[0], nodes = ['worker-1']): Promise<Site> {
  const folder = tempFolder(t)
  // As kubeadm and every distribution have it.
  const api = await startCluster(t, { controllers: workloadControllers, flags: ['--allow-privileged=true'] })
  for (const name of nodes) await createNode(api, name, { 'kubernetes.io/os': 'linux' })
  await createNamespace(api, 'shop')
  const env = { HOME: folder.path, PATH: '/usr/bin:/bin', KUBECONFIG: api.kubeconfig }
  return {
    api,
    helm: openHelm(folder, api),
    kubectl: (...words) => mustRun(findClusterProgram('kubectl') ?? '', words, { env, cwd: root }),
    copy: name => {
      const path = folder.file(name)
      cpSync(chartFolder, path, { recursive: true })
      return path
    },
  }
}

const here = ['--namespace', namespace]
const install = ['install', 'ipkeeper', chartFolder, ...here, '--create-namespace']
const upgrade = ['upgrade', 'ipkeeper', chartFolder, ...here]

t.test('a release, from nothing to its end', { skip }, async t => {
  const { api, helm } = await startSite(t)
  const daemonSet = `/apis/apps/v1/namespaces/${namespace}/daemonsets/ipkeeper`
  const networkOf = async (): Promise<string> => {
    const { spec } = await api.request('GET', daemonSet)
    const name = (spec.template.spec.volumes as ApiObject[]).find(volume => volume['name'] === 'network')?.[
      'configMap'
    ].name as string
    const { data } = await api.request('GET', `/api/v1/namespaces/${namespace}/configmaps/${name}`)
    return data['10-ipkeeper.conflist'] as string
  }

  await t.test(
    'installed: the DaemonSet has a pod on the node, and the notes say what to type next',
    async t => {
      const notes = await helm.must(...install)
      for (const line of [
        `kubectl -n ${namespace} rollout status daemonset/ipkeeper`,
        `kubectl -n ${namespace} exec daemonset/ipkeeper -c ipkeeper -- ipkeeperctl doctor`,
        `kubectl -n ${namespace} exec daemonset/ipkeeper -c ipkeeper -- ipkeeperctl who 10.22.0.50`,
        `kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=privileged`,
        `docker save ipkeeper:`,
      ])
        t.ok(notes.includes(line), line, { notes })
      t.strictSame(await present(api), [...ofRelease, ...ofDefinitions].sort())
      await api.until(
        `/api/v1/namespaces/${namespace}/pods`,
        ({ items }) => (items as unknown[]).length === 1,
      )
      t.match(await networkOf(), '10.22.0.0/16')
    },
  )

  await t.test('its rights suffice for a daemon, which gives an address', async t => {
    const token = await api.serviceAccountToken(namespace, 'ipkeeper')
    const node = await startClusterNode(t, api, {
      kubeconfig: api.kubeconfigFor({ token }),
      config: { election: { namespace } },
      args: ['--store', 'kubernetes:'],
    })
    const pod = await createPod(api, 'web-0', {
      'ipkeeper.io/ip': '10.22.0.50',
      'ipkeeper.io/retain': 'forever',
    })
    t.match(await node.add(pod), { ips: ['10.22.0.50/24'] })
    t.strictSame((await node.status()).kubernetes?.missingRights, [])
    await node.daemon.stop()
  })
  const lease = async (): Promise<string | undefined> => {
    const { items } = await api.request('GET', paths.leases)
    return (items as ApiObject[])[0]?.['spec'].address as string | undefined
  }

  await t.test('an upgrade that is refused changes nothing', async t => {
    const before = await api.request('GET', daemonSet)
    const { exit, stderr } = await helm.run(...upgrade, '--set', 'network.subnet=10.99.0.0')
    t.equal(exit, 1)
    t.match(stderr, /network.subnet: "10.99.0.0" is not an IPv4 network/)
    t.strictSame(await api.request('GET', daemonSet), before)
    t.match(parse(await helm.must('history', 'ipkeeper', ...here, '-o', 'yaml')), [
      { revision: 1, status: 'deployed' },
    ])
  })

  await t.test('upgraded: another network is a rollout, the webhook has its certificate', async t => {
    const before = await api.request('GET', daemonSet)
    const values = ['--set', 'network.subnet=10.99.0.0/16,webhook.enabled=true,nodePolicy.enabled=true']
    await helm.must(...upgrade, ...values)
    const after = await present(api)
    t.strictSame(
      after.filter(name => !name.startsWith('policies')),
      [...ofRelease, ...ofDefinitions, ...ofWebhook].sort(),
    )
    t.equal(after.filter(name => name.startsWith('policies')).length, 9)
    t.match(await networkOf(), '10.99.0.0/16')
    t.ok((await api.request('GET', daemonSet))['metadata'].generation > before['metadata'].generation)
    await authorityIsKeptAndRenewed(t, {
      api, // What the test writes it owns, and Helm asks before it takes that back.
      upgrade: () => helm.must(...upgrade, ...values, '--force-conflicts'),
    })
  })

  await t.test('rolled back: as it was', async t => {
    await helm.must('rollback', 'ipkeeper', '1', ...here)
    t.strictSame(await present(api), [...ofRelease, ...ofDefinitions].sort())
    t.match(await networkOf(), '10.22.0.0/16')
    t.equal(await lease(), '10.22.0.50')
  })

  await t.test('uninstalled: definitions and leases stay, nothing else', async t => {
    t.match(await helm.must('uninstall', 'ipkeeper', ...here), /resource policy/)
    t.strictSame(await present(api), [...ofDefinitions].sort())
    t.equal(await lease(), '10.22.0.50')
    t.strictSame(parse(await helm.must('list', '--all-namespaces', '-o', 'yaml')), [])
  })

  await t.test('installed again: it takes its definitions over, and the leases', async t => {
    await helm.must(...install)
    t.strictSame(await present(api), [...ofRelease, ...ofDefinitions].sort())
    t.equal(await lease(), '10.22.0.50')
  })

  await t.test('a second release is refused, and leaves nothing', async t => {
    const { exit, stderr } = await helm.run(
      'install',
      'second',
      chartFolder,
      '--namespace',
      'other',
      '--create-namespace',
    )
    t.equal(exit, 1)
    t.match(
      stderr,
      /ipkeeper is in this cluster already, as release ipkeeper of namespace ipkeeper-system, and a node has one daemon: helm upgrade ipkeeper --namespace ipkeeper-system, or first helm uninstall ipkeeper/,
    )
    await t.rejects(api.request('GET', '/api/v1/namespaces/other'), /404/)
  })
})

/** The authority of the webhook is what the API server is told to trust, and the same until it is old; daemons make use of it. */
async function authorityIsKeptAndRenewed(
  t: Test,
  { api, upgrade }: { readonly api: Cluster; readonly upgrade: () => Promise<unknown> },
): Promise<void> {
  const folder = tempFolder(t)
  const host = `ipkeeper-webhook.${namespace}.svc`
  const secret = `/api/v1/namespaces/${namespace}/secrets/ipkeeper-webhook`
  interface Seen {
    readonly authority: string
    /** What a daemon with the files of the Secret shows an API server. */
    readonly shown: X509Certificate
    readonly trusted: readonly X509Certificate[]
  }
  const look = async (): Promise<Seen> => {
    const { data } = await api.request('GET', secret)
    const { webhooks } = await api.request('GET', `${paths.webhooks}/ipkeeper`)
    const bundles = new Set(
      (webhooks as ApiObject[]).map(({ clientConfig }) => clientConfig.caBundle as string),
    )
    t.strictSame([...bundles], [data['ca.crt']], 'the API server is told of it')
    const textOf = (name: string): string => Buffer.from(data[name] as string, 'base64').toString()
    for (const name of ['tls.crt', 'tls.key']) writeFileSync(folder.file(name), textOf(name))
    const files = new CertificateFiles({
      ...{ certFile: folder.file('tls.crt'), keyFile: folder.file('tls.key'), issueFor: host, now: Date.now },
      onRead: () => undefined,
    })
    return {
      authority: textOf('tls.crt'),
      shown: new X509Certificate(files.current()?.cert ?? ''),
      trusted: (textOf('ca.crt').match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g) ?? []).map(
        text => new X509Certificate(text),
      ),
    }
  }
  const trusts = ({ trusted }: Seen, { shown }: Seen): boolean =>
    trusted.some(authority => shown.checkIssued(authority) && shown.verify(authority.publicKey))
  const first = await look()
  t.equal(first.shown.checkHost(host), host)
  t.ok(trusts(first, first))

  await upgrade()
  t.equal((await look()).authority, first.authority, 'an upgrade keeps it')

  const grownOld = { metadata: { annotations: { 'ipkeeper.io/renew-after': '1' } } }
  await api.request('PATCH', secret, grownOld)
  await upgrade()
  const renewed = await look()
  t.not(renewed.authority, first.authority, 'after its time an upgrade renews it')
  t.ok(trusts(renewed, renewed))
  t.ok(trusts(renewed, first), 'the one before is trusted until daemons have the new one')

  await api.request('PATCH', secret, grownOld)
  await upgrade()
  const again = await look()
  t.equal(again.trusted.length, 2, 'older ones are not')
  t.equal(trusts(again, first), false)
}

t.test('definitions are upgraded with the chart', { skip }, async t => {
  const { api, helm, copy } = await startSite(t)
  const older = copy('older')
  const file = join(older, 'templates', 'crds', 'ippools.yaml')
  const text = readFileSync(file, 'utf8')
  const column = text.replace(/ {8}- name: Segment\n(?: {10}.*\n)+/, '')
  t.not(column, text)
  writeFileSync(file, column)
  const segment = async (): Promise<boolean> => {
    const { spec } = await api.request('GET', `${paths.definitions}/ippools.ipkeeper.io`)
    return (spec.versions[0].additionalPrinterColumns as ApiObject[]).some(({ name }) => name === 'Segment')
  }
  await helm.must('install', 'ipkeeper', older, ...here, '--create-namespace')
  t.equal(await segment(), false)
  await api.until('/apis/ipkeeper.io/v1alpha1/ippools', () => true)
  await api.create({
    apiVersion: 'ipkeeper.io/v1alpha1',
    kind: 'IPPool',
    metadata: { name: 'prod' },
    spec: { subnet: '10.22.0.0/16' },
  })
  await helm.must(...upgrade)
  t.equal(await segment(), true)
  await helm.must(...upgrade, '--set', 'crds.install=false')
  t.strictSame(
    (await present(api)).filter(name => name.startsWith('definitions')),
    [...ofDefinitions].sort(),
    'whoever installs them by other means from now on finds them',
  )
  t.match(await api.request('GET', '/apis/ipkeeper.io/v1alpha1/ippools/prod'), {
    spec: { subnet: '10.22.0.0/16' },
  })
})

/** A kind of the Prometheus operator, as far as a server has to know it. */
const kindOfOperator = (kind: string): ApiObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.monitoring.coreos.com` },
  spec: {
    group: 'monitoring.coreos.com',
    scope: 'Namespaced',
    names: { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

t.test('with the Prometheus operator', { skip }, async t => {
  const { api, helm } = await startSite(t)
  const monitoring = `/apis/monitoring.coreos.com/v1/namespaces/${namespace}`
  for (const kind of ['PodMonitor', 'PrometheusRule']) {
    await api.create(kindOfOperator(kind))
    await api.until(`/apis/monitoring.coreos.com/v1/${kind.toLowerCase()}s`, () => true)
  }
  const values = ['--set', 'metrics.enabled=true,alerts.enabled=true']
  await helm.must(...install, ...values)
  const token = async (): Promise<unknown> =>
    (await api.request('GET', `/api/v1/namespaces/${namespace}/secrets/ipkeeper-metrics`))['data'].token
  const first = await token()
  t.match(await api.request('GET', `${monitoring}/podmonitors/ipkeeper`), {
    spec: { podMetricsEndpoints: [{ authorization: { credentials: { name: 'ipkeeper-metrics' } } }] },
  })
  t.ok((await api.request('GET', `${monitoring}/prometheusrules/ipkeeper`))['spec'].groups.length > 1)
  await helm.must(...upgrade, ...values)
  t.equal(await token(), first, 'an upgrade keeps the token')
  await helm.must(...upgrade, '--reset-values')
  await t.rejects(api.request('GET', `${monitoring}/podmonitors/ipkeeper`), /404/)
  await t.rejects(token(), /404/)
})

t.test('refused by what is in the cluster: nothing half-installed stays', { skip }, async t => {
  const { api, helm, kubectl } = await startSite(t, ['worker-1', 'worker-2'])
  await kubectl('create', 'namespace', 'restricted')
  await kubectl('label', 'namespace', 'restricted', 'pod-security.kubernetes.io/enforce=baseline')

  const rows: readonly (readonly [name: string, words: readonly string[], said: RegExp])[] = [
    [
      'a namespace that lets nothing near the node',
      ['--namespace', 'restricted'],
      /the namespace restricted takes no pods that see the node: it enforces the Pod Security Standard baseline. Another namespace, or: kubectl label --overwrite namespace restricted pod-security/,
    ],
    [
      'a ledger of each node for two nodes',
      [...here, '--create-namespace', '--set', 'store.kind=sqlite'],
      /store.kind sqlite is a ledger of each node's own, and this cluster has 2 nodes, which could give an address twice: use kubernetes or etcd/,
    ],
    [
      'definitions that nobody has installed',
      [...here, '--create-namespace', '--set', 'crds.install=false'],
      /crds.install is false, and the cluster does not know ipkeeper's custom resources: leave it true, or first kubectl apply/,
    ],
    [
      'alerts without the operator of Prometheus',
      [...here, '--create-namespace', '--set', 'alerts.enabled=true'],
      /no matches for kind "PrometheusRule" in version "monitoring.coreos.com\/v1".*ensure CRDs are installed first/s,
    ],
  ]
  for (const [name, words, said] of rows) {
    const { exit, stderr } = await helm.run('install', 'ipkeeper', chartFolder, ...words)
    t.equal(exit, 1, name)
    t.match(stderr, said, name)
    t.strictSame(await present(api), [], `${name}: nothing is there`)
    t.strictSame(await present(api, 'restricted'), [], `${name}: nor there`)
    t.strictSame(parse(await helm.must('list', '--all-namespaces', '-o', 'yaml')), [], `${name}: no release`)
  }

  await t.test('an image that nobody can pull: the install ends, and takes all back', async t => {
    const { exit, stderr } = await helm.run(
      ...install,
      ...['--set', 'image.repository=example.org/none', '--wait', '--timeout', '5s', '--rollback-on-failure'],
    )
    t.equal(exit, 1)
    t.match(stderr, /DaemonSet\/ipkeeper-system\/ipkeeper not ready|context deadline exceeded/)
    t.strictSame(await present(api), [...ofDefinitions].sort(), 'definitions alone stay')
    t.strictSame(parse(await helm.must('list', '--all-namespaces', '-o', 'yaml')), [])
  })

  await t.test('what kubectl has applied is not taken over unasked', async t => {
    await kubectl('apply', '--server-side', '--force-conflicts', '-k', 'deploy/kubernetes/overlays/crd-store')
    const before = await present(api)
    const { exit, stderr } = await helm.run(...install)
    t.equal(exit, 1)
    t.match(stderr, /exists and cannot be imported into the current release: invalid ownership metadata/)
    t.strictSame(await present(api), before)
    const { metadata } = await api.request('GET', `/apis/apps/v1/namespaces/${namespace}/daemonsets/ipkeeper`)
    await helm.must(...install, '--take-ownership', '--force-conflicts')
    const taken = await api.request('GET', `/apis/apps/v1/namespaces/${namespace}/daemonsets/ipkeeper`)
    t.equal(taken['metadata'].uid, metadata.uid, 'the DaemonSet is the same')
    await helm.must('uninstall', 'ipkeeper', ...here)
  })
})

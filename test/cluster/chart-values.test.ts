/** deploy/helm/ipkeeper rendered by the real helm: what kustomize makes where both say the same, and refusals that say what to do. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { parseConfig } from '../../ipkeeper-server/config/load-config.ts'
import { ChartValues } from '../../scripts/chart/values.schema.ts'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { findClusterProgram } from '../rigs/cluster-programs.ts'
import { chartFolder, openHelm } from '../rigs/helm.ts'
import { customResourceDefinitions } from '../rigs/custom-resources.ts'
import { missing } from '../rigs/requirements.ts'
import { mustRun } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('helm', 'kubectl')
const root = join(import.meta.dirname, '..', '..')
const namespace = 'ipkeeper-system'
const digest = `sha256:${'0'.repeat(64)}`
const ownConflist = readFileSync(join(root, 'deploy/cni/10-ipkeeper.conflist'), 'utf8').replace(
  '10.22',
  '10.99',
)

const hosts = ['kubeadm', 'k3s', 'talos'] as const

const network = `
namespace: ${namespace}
configMapGenerator:
  - name: ipkeeper-network
    behavior: replace
    files: [10-ipkeeper.conflist]
`
/** What people make of the overlays, and which values say the same. */
const same: Readonly<Record<string, readonly [kustomization: string, values: readonly string[]]>> = {
  'crd-store, as it is': ['resources: [../crd-store]', []],
  'crd-store on kubeadm': ['resources: [../crd-store]', valuesOf('kubeadm')],
  'crd-store on k3s': ['resources: [../crd-store]\ncomponents: [../../components/k3s]', valuesOf('k3s')],
  'crd-store on Talos': [
    `resources: [../crd-store]
patches:
  - target: { kind: DaemonSet, name: ipkeeper }
    patch: |-
      - { op: add, path: /spec/template/spec/initContainers/0/args/-, value: --plugin }
      - { op: add, path: /spec/template/spec/initContainers/0/args/-, value: static }
`,
    valuesOf('talos'),
  ],
  sqlite: ['resources: [../sqlite]', ['--set', 'store.kind=sqlite']],
  'the webhook': [
    'resources: [../crd-store]\ncomponents: [../../components/webhook]',
    ['--set', 'webhook.enabled=true'],
  ],
  'the policy for tokens': [
    'resources: [../crd-store]\ncomponents: [../../components/node-policy]',
    ['--set', 'nodePolicy.enabled=true'],
  ],
  'another subnet': [`resources: [../crd-store]${network}`, ['--set', 'network.subnet=10.99.0.0/16']],
  'another conflist': [
    `resources: [../crd-store]${network}`,
    ['--set-file', 'network.conflist=own.conflist'],
  ],
  'no network yet': [
    `resources: [../crd-store]
patches:
  - target: { kind: DaemonSet, name: ipkeeper }
    patch: |-
      - { op: replace, path: /spec/template/spec/initContainers/0/args, value: [install, --host-root, /host] }
`,
    ['--set', 'network.install=false'],
  ],
  'an image by its tag': [
    'resources: [../crd-store]\nimages: [{ name: ipkeeper, newName: example.org/ipkeeper, newTag: a }]',
    ['--set', 'image.repository=example.org/ipkeeper,image.tag=a'],
  ],
  'an image by its digest': [
    `resources: [../crd-store]\nimages: [{ name: ipkeeper, newName: example.org/ipkeeper, digest: '${digest}' }]`,
    ['--set', `image.repository=example.org/ipkeeper,image.digest=${digest}`],
  ],
}

function valuesOf(host: (typeof hosts)[number]): readonly string[] {
  return ['--values', join(chartFolder, `values-${host}.yaml`)]
}

/** Refused values, and what is said. */
const refusals: Readonly<Record<string, readonly [values: readonly string[], said: RegExp]>> = {
  'a misspelt value': [['--set', 'imag.tag=1'], /additional properties 'imag' not allowed/],
  'a misspelt value within a group': [
    ['--set', 'image.tags=1'],
    /at '\/image': additional properties 'tags' not allowed/,
  ],
  'a store that there is not': [
    ['--set', 'store.kind=mysql'],
    /at '\/store\/kind': value must be one of 'kubernetes', 'etcd', 'sqlite'/,
  ],
  'a text for a switch': [
    ['--set-string', 'webhook.enabled=yes'],
    /at '\/webhook\/enabled': got string, want boolean/,
  ],
  'a port that there is not': [
    ['--set', 'webhook.port=70000'],
    /at '\/webhook\/port': maximum: got 70,?000, want 65,?535/,
  ],
  'an image with its tag': [
    ['--set', 'image.repository=Example.org/ipkeeper'],
    /image.repository: "Example.org\/ipkeeper" is not the name of an image without its tag, such as example.org\/ipkeeper/,
  ],
  'a digest cut short': [
    ['--set', 'image.digest=sha256:12'],
    /image.digest: "sha256:12" is not a digest: "sha256:" and 64 digits/,
  ],
  'a relative folder': [
    ['--set', 'node.binDir=opt/cni/bin'],
    /node.binDir: "opt\/cni\/bin" is not the absolute path of a folder, such as \/opt\/cni\/bin/,
  ],
  'a subnet that is none': [
    ['--set', 'network.subnet=10.22.0.0'],
    /network.subnet: "10.22.0.0" is not an IPv4 network, such as 10.22.0.0\/16/,
  ],
  'a conflist that no runtime reads': [
    ['--set', 'network.fileName=10-ipkeeper.json'],
    /network.fileName: "10-ipkeeper.json" is not a file name that ends in .conflist/,
  ],
  'a conflist that is no JSON': [
    ['--set', 'network.conflist=no'],
    /network.conflist is not a JSON object: .*; see: ipkeeperctl lint FILE/,
  ],
  'a conflist without plugins': [
    ['--set-json', `network.conflist="{\\"name\\": \\"a\\"}"`],
    /network.conflist has no name, or no list of plugins; see: ipkeeperctl lint FILE/,
  ],
  'a conflist of another plugin': [
    [
      '--set-json',
      `network.conflist="{\\"name\\": \\"a\\", \\"plugins\\": [{\\"type\\": \\"bridge\\"}, 1]}"`,
    ],
    /network.conflist has no plugin and no ipam of type ipkeeper/,
  ],
  'a conflist and a subnet': [
    ['--set-file', 'network.conflist=own.conflist', '--set', 'network.subnet=10.1.0.0/16'],
    /network.subnet is for the conflist that comes with ipkeeper.*leave one of them out/,
  ],
  'etcd without members': [
    ['--set', 'store.kind=etcd'],
    /store.endpoints: with store.kind etcd every member has to be named, such as https:/,
  ],
  'a member without a protocol': [
    ['--set', 'store.kind=etcd,store.endpoints={10.0.0.1:2379}'],
    /store.endpoints: "10.0.0.1:2379" is not a member of etcd, such as https:/,
  ],
  'members of another store': [
    ['--set', 'store.endpoints={https://10.0.0.1:2379}'],
    /store.endpoints and store.secret are for store.kind etcd, which is kubernetes/,
  ],
  'a misspelt key of the daemon': [
    ['--set', 'config.cooldwn=5m'],
    /at '\/config': additional properties 'cooldwn' not allowed/,
  ],
  'a value that the daemon would refuse': [
    ['--set', 'config.nodeRoutes=on'],
    /at '\/config\/nodeRoutes': value must be one of 'auto', 'off'/,
  ],
  'the name of a node for all': [
    ['--set', 'config.node=worker-1'],
    /config.node: the chart writes it: each daemon has the name of its node from its pod/,
  ],
  'another Lease': [
    ['--set', 'config.election.namespace=a'],
    /config.election: the chart writes it: the Lease is in the namespace of the release/,
  ],
  'the webhook by hand': [
    ['--set', 'config.webhook.listen=0.0.0.0:1'],
    /config.webhook: the chart writes it: use the value "webhook"/,
  ],
  'a certificate without its authority': [
    ['--set', 'webhook.secret=a'],
    /webhook.caBundle: with webhook.secret the API server has to know the authority/,
  ],
  'an authority without a certificate': [
    ['--set', 'webhook.caBundle=YQ=='],
    /webhook.caBundle is for a certificate of your own: set webhook.secret/,
  ],
  'a policy for what is not there': [
    ['--set', 'nodePolicy.enabled=true,store.kind=sqlite'],
    /nodePolicy.enabled is for leases in custom resources, and store.kind is sqlite/,
  ],
  'metrics in two places': [
    ['--set', 'metrics.enabled=true,config.metrics.listen=127.0.0.1:9478'],
    /config.metrics: with metrics.enabled the chart writes it: leave one of them out/,
  ],
  'one port for two': [
    ['--set', 'metrics.enabled=true,metrics.port=9443,webhook.enabled=true'],
    /metrics.port and webhook.port are both 9443: set another one/,
  ],
  'a share of no nodes': [
    ['--set', 'maxUnavailable=0'],
    /maxUnavailable: "0" is not a number of nodes of at least 1, or a share such as 10%/,
  ],
  'an older Kubernetes': [
    ['--kube-version', '1.27.0'],
    /chart requires kubeVersion: >=1.28.0-0 which is incompatible with Kubernetes v1.27.0/,
  ],
  'definitions for an older Kubernetes': [
    ['--kube-version', '1.30.4'],
    /rules for addresses, which Kubernetes knows since 1.31, and this is v1.30.4: upgrade it, or use store.kind etcd or sqlite/,
  ],
  'a policy for an older Kubernetes': [
    ['--kube-version', '1.29.0', '--set', 'nodePolicy.enabled=true,crds.install=false'],
    /nodePolicy.enabled: tokens name their nodes since Kubernetes 1.30, and this is v1.29.0: leave the policy out/,
  ],
}

type Objects = Readonly<Record<string, ApiObject>>

/** Kustomize breaks the lines of an expression otherwise. */
const unfolded = (key: unknown, value: unknown): unknown =>
  key === 'expression' && typeof value === 'string' ? value.replaceAll(/\s+/g, ' ') : value

const objectsOf = (text: string): readonly ApiObject[] =>
  parseAllDocuments(text)
    .map(document => document.toJS({ reviver: unfolded }) as ApiObject | null)
    .filter(object => object !== null)

/** What stands in place of names, labels and files that are Helm's or kustomize's own business. */
function levelled(text: string): Objects {
  const plain = text.replaceAll(/\bipkeeper-network-\w{10}\b/g, 'ipkeeper-network')
  const objects = objectsOf(plain)
    // Helm makes the namespace itself, and the certificate is no part of deploy.
    .filter(({ kind }) => kind !== 'Namespace' && kind !== 'Secret')
    .map(object => {
      const { metadata } = object
      const isOthers = (key: string): boolean => /^helm\.sh\/|^app\.kubernetes\.io\/(?!name)/.test(key)
      for (const part of ['labels', 'annotations']) {
        const entries = Object.entries((metadata[part] ?? {}) as object).filter(([key]) => !isOthers(key))
        metadata[part] = entries.length === 0 ? undefined : Object.fromEntries(entries)
      }
      for (const webhook of (object['webhooks'] ?? []) as ApiObject[]) delete webhook['clientConfig'].caBundle
      const file = object['data']?.['config.yaml'] as string | undefined
      if (file !== undefined) {
        const config = parse(file) as ApiObject
        // Whose the files of the certificate are, is another matter than in deploy.
        delete config['webhook']?.issueFor
        object['data']['config.yaml'] = config
      }
      return object
    })
  return Object.fromEntries(
    objects.map(object => [`${object['kind'] as string} ${object['metadata'].name as string}`, object]),
  )
}

t.test('the chart', { skip }, async t => {
  const folder = tempFolder(t)
  const helm = openHelm(folder)
  cpSync(join(root, 'deploy'), folder.file('deploy'), { recursive: true })
  writeFileSync(folder.file('own.conflist'), ownConflist)
  const template = (values: readonly string[], chart = chartFolder): Promise<string> =>
    helm.must('template', 'ipkeeper', chart, '--namespace', namespace, ...values)

  await t.test('what kustomize makes', async t => {
    const overlay = folder.file('deploy', 'kubernetes', 'overlays', 'ours')
    mkdirSync(overlay)
    writeFileSync(join(overlay, '10-ipkeeper.conflist'), ownConflist)
    for (const [name, [kustomization, values]] of Object.entries(same)) {
      writeFileSync(join(overlay, 'kustomization.yaml'), kustomization)
      const wanted = levelled(await mustRun(findClusterProgram('kubectl') ?? '', ['kustomize', overlay]))
      const made = levelled(await template(values))
      t.strictSame(Object.keys(made).sort(), Object.keys(wanted).sort(), `${name}: the same objects`)
      for (const [object, text] of Object.entries(wanted))
        t.strictSame(made[object], text, `${name}: ${object}`)
    }
  })

  await t.test('a value that makes no sense is refused, with what to do', async t => {
    for (const [name, [values, said]] of Object.entries(refusals)) {
      const { exit, stdout, stderr } = await helm.run('template', 'ipkeeper', chartFolder, ...values)
      t.strictSame([exit, stdout], [1, ''], name)
      t.match(stderr, said, name)
    }
  })

  await t.test('lint', async t => {
    for (const values of [
      [],
      ...hosts.map(valuesOf),
      ['--set', 'webhook.enabled=true,nodePolicy.enabled=true'],
    ])
      t.match(
        await helm.must('lint', '--strict', chartFolder, ...values),
        /1 chart\(s\) linted, 0 chart\(s\) failed/,
      )
  })

  await t.test('what has no counterpart in deploy', async t => {
    const etcd = levelled(
      await template([
        '--set',
        'store.kind=etcd,store.endpoints={https://10.0.0.1:2379,https://10.0.0.2:2379},store.secret=certificates',
      ]),
    )
    t.equal(
      Object.keys(etcd).some(name => name.startsWith('CustomResourceDefinition')),
      false,
    )
    t.notMatch(JSON.stringify(etcd['ClusterRole ipkeeper']), /ipkeeper\.io/)
    t.match(etcd['DaemonSet ipkeeper'], {
      spec: {
        template: {
          spec: {
            containers: [{ args: ['serve', '--store', 'etcd:https://10.0.0.1:2379,https://10.0.0.2:2379'] }],
          },
        },
      },
    })
    t.match(JSON.stringify(etcd['DaemonSet ipkeeper']), /"secretName":"certificates"/)

    const [plain, cooled, moved] = await Promise.all(
      [
        [],
        ['--set', 'config.cooldown=5m'],
        ['--set', 'config.history.maxEntries=20000000,config.runtime.sockets={/run/a.sock}'],
      ].map(async values => levelled(await template(values))),
    )
    const podOf = (objects: Objects | undefined): unknown =>
      objects?.['DaemonSet ipkeeper']?.['spec'].template
    t.match(cooled?.['ConfigMap ipkeeper']?.['data']['config.yaml'], {
      cooldown: '5m',
      election: { namespace },
    })
    t.strictSame(podOf(cooled), podOf(plain), 'what a reload takes is no rollout')
    t.equal(moved?.['ConfigMap ipkeeper']?.['data']['config.yaml'].history.maxEntries, 20_000_000)
    t.notSame(podOf(moved), podOf(plain), 'what needs a restart is one')

    const injected = await template([
      ...['--set', 'webhook.enabled=true,webhook.secret=own'],
      ...['--set-string', 'webhook.annotations.cert-manager\\.io/inject-ca-from=ipkeeper-system/own'],
    ])
    t.notMatch(injected, /caBundle|kind: Secret/)
    t.match(injected, /cert-manager.io\/inject-ca-from: ipkeeper-system\/own/)
    t.match(injected, /secretName: own/)

    const monitored = await template([
      '--set',
      'metrics.enabled=true,metrics.port=9999,metrics.labels.release=a',
    ])
    const podMonitor = levelled(monitored)['PodMonitor ipkeeper']
    t.match(podMonitor, {
      metadata: { labels: { release: 'a' } },
      spec: {
        podMetricsEndpoints: [{ authorization: { credentials: { name: 'ipkeeper-metrics', key: 'token' } } }],
      },
    })
    t.match(levelled(monitored)['DaemonSet ipkeeper']?.['spec'].template.spec.containers[0].ports, [
      { name: 'metrics', containerPort: 9999 },
    ])
    t.match(monitored, /^ {2}token: \w{64}$/m)
    t.notMatch(await template(['--set', 'metrics.enabled=true,metrics.secret=own']), /kind: Secret/)

    const rule = levelled(await template(['--set', 'alerts.enabled=true,alerts.labels.release=prometheus']))[
      'PrometheusRule ipkeeper'
    ]
    t.strictSame(rule?.['spec'], parse(readFileSync(join(root, 'deploy/monitoring/alerts.yaml'), 'utf8')))
    t.strictSame(rule?.['metadata'].labels, { release: 'prometheus' })
  })

  await t.test('the daemon takes what the chart writes', async t => {
    for (const values of [
      [],
      ['--set', 'webhook.enabled=true,metrics.enabled=true,config.cooldown=5m'],
      ['--set-json', 'config={"pools":[{"name":"prod","subnet":"10.22.0.0/16"}],"logLevel":"debug"}'],
    ]) {
      const { data } = objectsOf(await template(values)).find(
        ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'ipkeeper',
      ) as ApiObject
      t.doesNotThrow(() => parseConfig(data['config.yaml'] as string, 'config.yaml'), values.join(' '))
    }
  })

  await t.test('packaged, as an OCI registry has it', async t => {
    t.match(await helm.must('package', chartFolder), /Successfully packaged chart/)
    const { version } = parse(readFileSync(join(chartFolder, 'Chart.yaml'), 'utf8')) as { version: string }
    const packaged = folder.file(`ipkeeper-${version}.tgz`)
    t.equal(await template([], packaged), await template([]))
    const { annotations } = parse(await helm.must('show', 'chart', packaged)) as ApiObject
    const crds = parse(annotations['artifacthub.io/crds'] as string) as ApiObject[]
    t.ok(
      crds.length === customResourceDefinitions().length &&
        crds.every(({ description }) => (description as string).length > 10),
    )
  })

  t.test('every value is described', t => {
    const described = (node: ApiObject, path: string): void => {
      t.match(node['description'], /^[A-Z].*\.$|[A-Z]+$/, path)
      if (!('default' in node))
        for (const [key, child] of Object.entries(
          (node['properties'] ?? {}) as Readonly<Record<string, ApiObject>>,
        ))
          described(child, path === '' ? key : `${path}.${key}`)
    }
    described(ChartValues, '')
    t.end()
  })
})

/** deploy/kubernetes on a real API server: accepted with its strict validation, enough for the daemon, and no more. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { createNamespace, createNode, createPod, startClusterNode } from '../rigs/cluster-node.ts'
import { findClusterProgram } from '../rigs/cluster-programs.ts'
import { startCluster, workloadControllers, type Cluster } from '../rigs/cluster.ts'
import { missing } from '../rigs/requirements.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('cluster', 'controllers', 'kubectl', 'executables')
const root = join(import.meta.dirname, '..', '..')
const namespace = 'ipkeeper-system'

/** Overlays as they are, and ones that people make of them, with every component. */
const overlays: Readonly<Record<string, string | undefined>> = {
  'crd-store': undefined,
  sqlite: undefined,
  'crd-store with the webhook': `
resources: [../crd-store]
components: [../../components/webhook]
`,
  'sqlite on k3s': `
resources: [../sqlite]
components: [../../components/k3s]
`,
  'a network of its own': `
namespace: ${namespace}
resources: [../crd-store]
configMapGenerator:
  - name: ipkeeper-network
    behavior: replace
    files: [10-ipkeeper.conflist=own.conflist]
images:
  - { name: ipkeeper, newName: example.org/ipkeeper, newTag: '1' }
`,
  'an image by its digest': `
resources: [../crd-store]
images:
  - { name: ipkeeper, newName: example.org/ipkeeper, digest: 'sha256:${'0'.repeat(64)}' }
`,
}

/** Of those that name one. */
const images: Readonly<Record<string, string>> = {
  'a network of its own': 'example.org/ipkeeper:1',
  'an image by its digest': `example.org/ipkeeper@sha256:${'0'.repeat(64)}`,
}

t.test('manifests', { skip }, async t => {
  const folder = tempFolder(t)
  // Kustomize reads no file outside of what it builds; so what people would add is laid beside what is there.
  cpSync(join(root, 'deploy'), folder.file('deploy'), { recursive: true })
  const overlay = (name: string): string => folder.file('deploy', 'kubernetes', 'overlays', name)
  for (const [name, text] of Object.entries(overlays)) {
    if (text === undefined) continue
    mkdirSync(overlay(name))
    writeFileSync(join(overlay(name), 'kustomization.yaml'), text)
    writeFileSync(
      join(overlay(name), 'own.conflist'),
      readFileSync(join(root, 'deploy/cni/10-ipkeeper.conflist'), 'utf8').replace('10.22', '10.99'),
    )
  }
  const kubectl = (words: readonly string[], cluster?: Cluster, input = ''): Promise<Finished> =>
    runProgram(findClusterProgram('kubectl') ?? '', words, {
      input,
      // It runs diff.
      env: { HOME: folder.path, PATH: '/usr/bin:/bin', ...(cluster && { KUBECONFIG: cluster.kubeconfig }) },
    })
  const must = async (...call: Parameters<typeof kubectl>): Promise<string> => {
    const { exit, stdout, stderr } = await kubectl(...call)
    if (exit !== 0) throw new Error(`kubectl ${call[0].join(' ')}: ${stderr}`)
    return stdout
  }
  const rendered = new Map<string, string>()
  for (const name of Object.keys(overlays)) rendered.set(name, await must(['kustomize', overlay(name)]))
  const objectsOf = (name: string): readonly ApiObject[] =>
    parseAllDocuments(rendered.get(name) ?? '').map(document => document.toJS() as ApiObject)
  const find = (name: string, kind: string): ApiObject =>
    objectsOf(name).find(object => object['kind'] === kind) ?? {}

  await t.test('what is rendered', t => {
    for (const name of Object.keys(overlays)) {
      const { spec } = find(name, 'DaemonSet')
      const pod = spec.template.spec as ApiObject
      const containers = [...pod['initContainers'], ...pod['containers']] as ApiObject[]
      const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
      const image = images[name] ?? `ipkeeper:${version}`
      t.strictSame(
        containers.map(container => container['image']),
        [image, image],
        `${name}: the image of this version`,
      )
      t.ok(
        containers.every(({ resources }) => resources.requests.cpu && resources.limits.memory),
        `${name}: requests and limits`,
      )
      const named = (pod['volumes'] as ApiObject[]).flatMap(({ configMap }) =>
        configMap ? [configMap.name as string] : [],
      )
      const there = objectsOf(name)
        .filter(({ kind }) => kind === 'ConfigMap')
        .map(({ metadata }) => metadata.name as string)
      t.strictSame(named.sort(), there.sort(), `${name}: each ConfigMap is the one that is mounted`)
      const others = objectsOf(name).filter(
        object => object['metadata'].namespace !== undefined && object['metadata'].namespace !== namespace,
      )
      t.strictSame(others, [], `${name}: all in one namespace`)
    }
    t.match(rendered.get('a network of its own'), '10.99.0.0/16')
    t.match(find('crd-store with the webhook', 'ValidatingWebhookConfiguration'), {
      webhooks: [{ clientConfig: { service: { namespace } } }, { clientConfig: { service: { namespace } } }],
    })
    t.match(rendered.get('sqlite on k3s'), 'path: /var/lib/rancher/k3s/agent/etc/cni/net.d')
    t.end()
  })

  const api = await startCluster(t, {
    controllers: workloadControllers,
    // As kubeadm and every distribution have it.
    flags: ['--allow-privileged=true'],
  })
  await createNode(api, 'worker-1', { 'kubernetes.io/os': 'linux' })
  await createNamespace(api, 'shop')

  for (const name of Object.keys(overlays)) {
    await t.test(`${name}: applied, judged strictly, and deleted`, async t => {
      const text = rendered.get(name) ?? ''
      await must(['apply', '--server-side', '-f', '-'], api, JSON.stringify(find(name, 'Namespace')))
      const apply = ['apply', '--server-side', '--validate=strict', '-f', '-']
      await must([...apply, '--dry-run=server'], api, text)
      await must(apply, api, text)
      const again = await kubectl(['diff', '--server-side', '-f', '-'], api, text)
      t.strictSame([again.exit, again.stdout], [0, ''], 'as it was meant')
      const pods = await api.until(
        `/api/v1/namespaces/${namespace}/pods`,
        ({ items }) => (items as unknown[]).length === 1,
      )
      t.match(pods, { items: [{ spec: { priorityClassName: 'system-node-critical', hostNetwork: true } }] })
      await must(['delete', '--wait=true', '--timeout=60s', '-f', '-'], api, text)
      await t.rejects(api.request('GET', `/api/v1/namespaces/${namespace}`), /404/)
    })
  }

  await t.test('a misspelt field is refused: the validation validates', async t => {
    const text = (rendered.get('sqlite') ?? '').replace('minReadySeconds', 'minReadySecond')
    await must(['apply', '--server-side', '-f', '-'], api, JSON.stringify(find('sqlite', 'Namespace')))
    const { exit, stderr } = await kubectl(
      ['apply', '--server-side', '--validate=strict', '--dry-run=server', '-f', '-'],
      api,
      text,
    )
    t.not(exit, 0)
    t.match(stderr, /minReadySecond/)
  })

  await t.test('without the label of the namespace no daemon would be made', async t => {
    const { metadata } = find('sqlite', 'Namespace')
    t.match(metadata.labels, { 'pod-security.kubernetes.io/enforce': 'privileged' })
    await must(['create', 'namespace', 'restricted'], api)
    await must(['label', 'namespace', 'restricted', 'pod-security.kubernetes.io/enforce=baseline'], api)
    const { spec } = find('sqlite', 'DaemonSet')
    const pod = {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'restricted' } },
      spec: spec.template.spec as ApiObject,
    }
    await t.rejects(api.create(pod), /violates PodSecurity .*baseline:latest.*hostPath/)
  })

  const stores = { sqlite: [], 'crd-store': ['--store', 'kubernetes:'] } as const
  for (const [name, args] of Object.entries(stores)) {
    await t.test(`${name}: its rights suffice for the daemon, and for nothing else`, async t => {
      await must(['apply', '--server-side', '-f', '-'], api, JSON.stringify(find(name, 'Namespace')))
      await must(['apply', '--server-side', '-f', '-'], api, rendered.get(name) ?? '')
      const token = await api.serviceAccountToken(namespace, 'ipkeeper')
      const node = await startClusterNode(t, api, {
        kubeconfig: api.kubeconfigFor({ token }),
        config: { election: { namespace } },
        args,
      })
      const pod = await createPod(api, `${name}-0`, { 'ipkeeper.io/ip': '10.22.0.50' })
      const answer = await node.add(pod)
      t.match(answer, { ips: ['10.22.0.50/24'] })
      t.strictSame((await node.status()).kubernetes?.missingRights, [])
      if (name === 'crd-store') {
        await api.until(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/ipkeeper`, ({ spec }) =>
          (spec.holderIdentity as string).includes('worker-1'),
        )
        t.match(await api.request('GET', '/apis/ipkeeper.io/v1alpha1/ipleases'), { items: [{}] })
      }
      await api.until('/apis/events.k8s.io/v1/namespaces/shop/events', ({ items }) =>
        (items as ApiObject[]).some(({ regarding }) => regarding.name === `${name}-0`),
      )
      await node.del(pod, 'container' in answer ? answer.container : '')

      const as = api.as({ token })
      const refused: readonly (readonly [verb: string, path: string, body?: object])[] = [
        ['GET', '/api/v1/secrets'],
        ['GET', `/api/v1/namespaces/${namespace}/configmaps/ipkeeper`],
        ['DELETE', `/api/v1/namespaces/shop/pods/${name}-0`],
        ['PATCH', `/api/v1/namespaces/shop/pods/${name}-0`, { metadata: { labels: { a: 'b' } } }],
        ['PATCH', '/api/v1/nodes/worker-1', { metadata: { labels: { a: 'b' } } }],
        ['GET', '/apis/apps/v1/deployments'],
        ['GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/ipkeeper'],
        ['GET', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'],
        ...(name === 'sqlite' ? [['GET', '/apis/ipkeeper.io/v1alpha1/ipleases'] as const] : []),
      ]
      for (const [verb, path, body] of refused) {
        const error: unknown = await as.request(verb, path, body).catch((reason: unknown) => reason)
        t.match(error, { status: 403 }, `no ${verb} ${path}`)
      }
      await node.daemon.stop()
    })
  }
})

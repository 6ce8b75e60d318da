/** What the pages on Kubernetes say to type at the API server, typed at a real one. */
import { cpSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { findClusterProgram } from '../rigs/cluster-programs.ts'
import { remedyHere } from '../../shared/remedy/place.ts'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { createNode } from '../rigs/cluster-node.ts'
import { startCluster, workloadControllers, type Cluster } from '../rigs/cluster.ts'
import { findHelm } from '../rigs/helm.ts'
import { followPage, readSteps } from '../rigs/install-page.ts'
import { missing } from '../rigs/requirements.ts'
import { until } from '../rigs/poll.ts'
import { runProgram, type Finished } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('cluster', 'controllers', 'kubectl', 'helm')
const root = join(import.meta.dirname, '..', '..')

t.test('the pages on Kubernetes', { skip }, async t => {
  for (const page of ['kubeadm.md', 'helm.md', 'k3s.md']) {
    await t.test(page, async t => {
      const folder = tempFolder(t)
      cpSync(join(root, 'deploy'), folder.file('deploy'), { recursive: true })
      const api = await startCluster(t, {
        controllers: workloadControllers,
        flags: ['--allow-privileged=true'],
      })
      const kubectl = dirname(findClusterProgram('kubectl') ?? '')
      const helm = dirname(findHelm() ?? '')
      const env = { HOME: folder.path, PATH: `${kubectl}:${helm}:/usr/bin:/bin`, KUBECONFIG: api.kubeconfig }
      await followPage(
        t,
        {
          // What pages put into /tmp is a file of the test.
          shell: (script, options) =>
            runProgram('sh', ['-euc', script.replaceAll('/tmp/', `${folder.path}/`)], {
              ...options,
              cwd: folder.path,
              env,
            }),
        },
        page,
      )
    })
  }
  await t.test('the daemon of one node is stopped as hints say', stopsOneDaemon)
  t.ok(
    readSteps('talos.md').every(({ untried }) => untried !== undefined),
    'of Talos no command was tried, and the page says so',
  )
})

const pods = '/api/v1/namespaces/ipkeeper-system/pods'

/** The pod that the DaemonSet has made for a node, put there as the scheduler does. */
async function placedPod(api: Cluster, node: string): Promise<string> {
  let name = ''
  await until('the DaemonSet has made a pod', async () => {
    const { items } = await api.request('GET', pods)
    name =
      (items as { metadata: ApiObject }[]).find(({ metadata }) => metadata['deletionTimestamp'] === undefined)
        ?.metadata['name'] ?? ''
    return name !== ''
  })
  await api.request('POST', `${pods}/${name}/binding`, {
    ...{ apiVersion: 'v1', kind: 'Binding', metadata: { name } },
    target: { apiVersion: 'v1', kind: 'Node', name: node },
  })
  return name
}

/** Up to what needs a kubelet: the commands that are then typed in the copy. */
async function stopsOneDaemon(t: Test): Promise<void> {
  const api = await startCluster(t, { controllers: workloadControllers, flags: ['--allow-privileged=true'] })
  const folder = tempFolder(t)
  const kubectl = dirname(findClusterProgram('kubectl') ?? '')
  const env = { HOME: folder.path, PATH: `${kubectl}:/usr/bin:/bin`, KUBECONFIG: api.kubeconfig }
  const sh = (line: string): Promise<Finished> => runProgram('sh', ['-euc', line], { cwd: root, env })
  await createNode(api, 'n1', { 'kubernetes.io/os': 'linux' })
  t.match(await sh('kubectl apply --server-side -k deploy/kubernetes/overlays/sqlite'), { exit: 0 })
  const pod = await placedPod(api, 'n1')

  const startedAs = { service: 'pod', namespace: 'ipkeeper-system', node: 'n1', pod } as const
  const page = readFileSync(join(root, 'docs', 'operations', 'running-by-hand.md'), 'utf8')
  const said = (line: string): string => line.replaceAll(pod, 'POD').replaceAll('n1', 'NODE')
  const [made = '', ready = '', call = ''] = remedyHere('ipkeeperctl restore FILE', { startedAs }).split(
    ' && ',
  )
  for (const line of [made, ready]) t.ok(page.includes(said(line)), `the page says so, too: ${said(line)}`)
  t.ok(page.includes(said(call).replace('/FILE', '/ledger.ipkeeper')), said(call))

  t.match(await sh(made), { exit: 0 }, made)
  const copy = await api.request('GET', `${pods}/ipkeeper-offline-n1`)
  const { spec } = await api.request('GET', `${pods}/${pod}`)
  const mountsOf = (given: ApiObject): unknown => given['containers'][0].volumeMounts
  t.match(copy, {
    spec: { nodeName: 'n1', hostNetwork: true, containers: [{ command: ['sleep', 'infinity'] }] },
  })
  t.strictSame(mountsOf(copy['spec']), mountsOf(spec), 'it has the folders of the daemon')
  t.equal(copy['metadata']['ownerReferences'], undefined, "and is nobody's")

  const stop = remedyHere('systemctl stop ipkeeper', { startedAs })
  t.ok(page.includes(said(stop)), said(stop))
  t.match(await sh(stop), { exit: 0 }, stop)
  await api.until(`${pods}/${pod}`, ({ metadata }) => metadata['deletionTimestamp'] !== undefined)
  await api.request('DELETE', `${pods}/${pod}?gracePeriodSeconds=0`)
  t.equal((await api.request('GET', `${pods}/ipkeeper-offline-n1`))['metadata'].deletionTimestamp, undefined)

  const start = remedyHere('systemctl start ipkeeper', {
    startedAs: { ...startedAs, pod: 'ipkeeper-offline-n1' },
  })
  t.ok(page.includes(said(start)), said(start))
  t.match(await sh(start), { exit: 0 }, start)
  await api.request('DELETE', `${pods}/ipkeeper-offline-n1?gracePeriodSeconds=0`)
  t.not(await placedPod(api, 'n1'), pod, 'the DaemonSet has a pod there again')
}

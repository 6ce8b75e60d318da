/** What reconcile asks of a real API server, and what it tells there. Attachments have no namespaces: only lists tell. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { AuditReply } from '../../shared/api/audit.schema.ts'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { createPod, startClusterNode, type ClusterNode, type RuntimePod } from '../rigs/cluster-node.ts'
import type { Cluster } from '../rigs/cluster.ts'
import { encodeReply, startCriDouble } from '../rigs/cri-double.ts'
import { startInNewNamespace } from '../rigs/namespace-process.ts'
import { until } from '../rigs/poll.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing, pluginFolder, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('cluster', 'executables', 'namespaces')
// The daemon runs on the machine itself, whose links are none of this test's business.
const off = { mode: 'off' }
const kinds = { 'foreign-link': off, 'link-without-lease': off }
const reconcile = { interval: '1s', minAge: '1s', minAgeUnproved: '2s', passes: 2, kinds }

const auditOf = async ({ daemon }: ClusterNode): Promise<AuditReply> =>
  JSON.parse((await daemon.ask('GET', '/v1/audit')).body) as AuditReply
const holders = async ({ daemon }: ClusterNode): Promise<readonly (string | null)[]> =>
  (await daemon.boundLeases()).map(({ containerId }) => containerId)
const apiStateOf = ({ witnesses }: AuditReply): string | undefined =>
  witnesses.find(({ name }) => name === 'Kubernetes API')?.state

async function reportAddresses(cluster: Cluster, name: string, ...ips: readonly string[]): Promise<void> {
  const status = { phase: 'Running', podIP: ips[0], podIPs: ips.map(ip => ({ ip })) }
  await cluster.request('PATCH', `/api/v1/namespaces/shop/pods/${name}/status`, { status })
}

/** The first Event with this reason. */
async function eventWith(cluster: Cluster, namespace: string, reason: string): Promise<ApiObject> {
  const of = (list: ApiObject): ApiObject | undefined =>
    (list['items'] as ApiObject[]).find(event => event['reason'] === reason)
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`
  return of(await cluster.until(path, list => of(list) !== undefined)) ?? {}
}

/** A runtime of which only the list exists. */
async function runtimeOf(t: Test): Promise<{ readonly socket: string; readonly listed: Set<string> }> {
  const folder = tempFolder(t)
  const socket = folder.file('cri.sock')
  const listed = new Set<string>()
  const runtime = await startCriDouble(socket, () =>
    encodeReply('ListPodSandbox', { items: [...listed].map(id => ({ id, state: 'SANDBOX_READY' })) }),
  )
  t.teardown(() => {
    runtime.close()
  })
  return { socket, listed }
}

t.test('reconcile and the Kubernetes API', { skip, timeout: 180_000 }, async t => {
  const cluster = await startPreparedCluster(t)
  const runtime = await runtimeOf(t)
  const files = t.testdir({ netd: {}, results: {} })
  const [netd, results] = [join(files, 'netd'), join(files, 'results')]
  const config = {
    reconcile,
    runtime: { sockets: [runtime.socket] },
    conflist: { directory: netd },
    resultCache: { folders: { results: [results] } },
  }
  const node = await startClusterNode(t, cluster, { config })
  const add = async (pod: RuntimePod): Promise<{ readonly container: string; readonly ip: string }> => {
    const answer = await node.add(pod)
    if (!('ips' in answer)) throw new Error(answer.msg)
    return { container: answer.container, ip: answer.ips[0]?.replace(/\/.*/, '') ?? '' }
  }

  await t.test('an API that tells another address of a pod', async t => {
    const web = await createPod(cluster, 'web-0')
    const { container, ip } = await add(web)
    runtime.listed.add(container)
    await reportAddresses(cluster, 'web-0', ip)
    t.same((await auditOf(node)).findings, [])
    await reportAddresses(cluster, 'web-0', '10.22.0.99')
    await until('it is found', async () => (await auditOf(node)).findings.length > 0)
    t.match((await auditOf(node)).findings, [
      {
        kind: 'ip-differs',
        severity: 'error',
        says: new RegExp(`lease is ${ip}, the Kubernetes API reports 10\\.22\\.0\\.99`),
        action: 'none',
        pod: 'shop/web-0',
        podUid: web.uid,
      },
    ])
    t.same(await holders(node), [container], 'only a person can say who is right')
    const { exit } = await node.daemon.control('audit')
    t.equal(exit, 1)
    await reportAddresses(cluster, 'web-0', ip)
    await until('it is over', async () => (await auditOf(node)).findings.length === 0)
  })

  await t.test('a pod that no runtime was ever seen to have', async t => {
    const pending = await createPod(cluster, 'pending')
    const { container } = await add(pending)
    const lost = await add({ name: 'lost', uid: '11111111-2222-4333-8444-555555555555', passedOn: {} })
    await until('what neither knows is ended', async () => !(await holders(node)).includes(lost.container))
    t.ok((await holders(node)).includes(container), 'what the API knows is not')
    t.match(await eventWith(cluster, 'shop', 'LeaseWithoutSandbox'), {
      type: 'Warning',
      action: 'Reconcile',
      regarding: { kind: 'Pod', name: 'lost', uid: '11111111-2222-4333-8444-555555555555' },
      note: /no DEL has come for it.*neither a runtime nor the Kubernetes API knows this pod/,
    })
    await node.del(pending, container)
  })

  await t.test('an API that is away, or lists nothing, is no witness', async t => {
    const { container } = await add({
      name: 'unknown',
      uid: '11111111-2222-4333-8444-666666666666',
      passedOn: {},
    })
    const passesBy = async (): Promise<void> => {
      const end = performance.now() + 6_000
      let isThere = true
      while (isThere && performance.now() < end) isThere = (await holders(node)).includes(container)
      t.ok(isThere)
    }
    await cluster.stop('SIGKILL')
    await until('it is missed', async () => apiStateOf(await auditOf(node)) === 'failed')
    await passesBy()
    await cluster.start()
    await until('it is back', async () => apiStateOf(await auditOf(node)) === 'asked')
    await until('and believed', async () => !(await holders(node)).includes(container))
  })

  await t.test('a finding that is of no pod is an Event on the Node', async t => {
    const namespace = await startInNewNamespace(t)
    const { plugins, ...network } = JSON.parse(readFileSync(node.conflist, 'utf8')) as { plugins: object[] }
    const { exit, stdout } = await runPlugin({
      plugin: testedPlugin,
      ...{
        command: 'ADD',
        containerId: 'bare',
        netns: namespace.path,
        ifname: 'eth0',
        args: '',
        path: pluginFolder,
      },
      config: { ...network, ...plugins[0] },
    })
    t.equal(exit, 0, stdout)
    await namespace.end()
    await until('it is ended', async () => !(await holders(node)).includes('bare'))
    t.match(await eventWith(cluster, 'default', 'LeaseWithoutSandbox'), {
      regarding: { kind: 'Node', name: 'worker-1', uid: 'worker-1' },
      note: /container bare .*is gone/,
    })
  })

  await t.test('files that are in the way of the runtime are Events on the Node', async t => {
    writeFileSync(join(netd, '00-bad.conflist'), '{ "name": "x",, }')
    t.match(await eventWith(cluster, 'default', 'BadConflist'), {
      regarding: { kind: 'Node', name: 'worker-1' },
      note: /00-bad\.conflist:1:/,
    })
    // Only now: an API server that has just begun refuses Events of its first moment, which are not sent again.
    writeFileSync(join(results, 'other-abc-eth0'), '')
    t.match(await eventWith(cluster, 'default', 'BadCacheFile'), {
      regarding: { kind: 'Node', name: 'worker-1' },
      note: /other-abc-eth0: zero-byte .*ipkeeperctl cache scan/,
    })
  })
})

/** Credentials that end, are revoked or replaced while the daemon runs; and that nobody gets to see them. */
import { renameSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  createPod,
  ipkeeperToken,
  startClusterNode,
  type ClusterNode,
  type RuntimePod,
} from '../rigs/cluster-node.ts'
import { startPreparedCluster } from '../rigs/prepared-cluster.ts'
import { missing } from '../rigs/requirements.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('cluster', 'executables')

/** As kubelet and agents of identity providers do it: whole, under another name, then renamed. */
function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text)
  renameSync(`${path}.new`, path)
}

/** ADDs again while the answer is 11, as a runtime does; at most so often. */
async function addUntil(node: ClusterNode, pod: RuntimePod): Promise<unknown> {
  for (let tries = 0; ; tries++) {
    const answer = await node.add(pod)
    if (!('code' in answer) || answer.code !== 11 || tries === 5) return answer
  }
}

t.test('a token in a file', { skip }, async t => {
  const cluster = await startPreparedCluster(t)
  const folder = tempFolder(t)
  const tokenFile = folder.file('token')
  const first = await ipkeeperToken(cluster)
  writeFileSync(tokenFile, first)
  const node = await startClusterNode(t, cluster, { kubeconfig: cluster.kubeconfigFor({ tokenFile }) })
  t.match(await node.add(await createPod(cluster, 'web-0')), { ips: ['10.22.0.2/24'] })

  const secrets = [first]
  await t.test('that is revoked, and replaced', async t => {
    await cluster.request('DELETE', '/api/v1/namespaces/kube-system/serviceaccounts/ipkeeper')
    // What is open already stays open: only a server that comes back asks again who is there.
    await cluster.stop('SIGKILL')
    await cluster.start()
    const refused = await node.untilStatus(({ watches }) =>
      watches.every(({ lastError }) => lastError?.message.includes('401') === true),
    )
    t.equal(refused.kubernetes?.connected, false)
    t.match((await node.daemon.control('status')).stdout, /pods: .*401 Unauthorized/)
    const known = await node.add({ name: 'passed-on', uid: randomUUID(), passedOn: {} })
    t.match(known, { ips: ['10.22.0.3/24'] }, 'what the runtime passes on needs no API')

    const second = await ipkeeperToken(cluster)
    secrets.push(second)
    replaceFile(tokenFile, second)
    const web = await createPod(cluster, 'web-1', { 'ipkeeper.io/ip': '10.22.0.51' })
    t.match(await addUntil(node, web), { ips: ['10.22.0.51/24'] })
    await node.untilStatus(({ connected }) => connected)
  })

  await t.test('that is gone for a while', async t => {
    renameSync(tokenFile, `${tokenFile}.away`)
    await cluster.stop('SIGKILL')
    await cluster.start()
    const web = await createPod(cluster, 'web-2', { 'ipkeeper.io/ip': '10.22.0.52' })
    t.match(await addUntil(node, web), { ips: ['10.22.0.52/24'] }, 'the last one that was read goes on')
  })

  await t.test('is told to nobody', async t => {
    const { stdout, stderr } = await node.daemon.control('status')
    const json = await node.daemon.control('status', '-o', 'json')
    const told = [node.daemon.log(), stdout, stderr, json.stdout, JSON.stringify(await node.status())].join(
      '\n',
    )
    t.match(told, /401 Unauthorized/, 'there is something to look at')
    for (const token of secrets)
      for (const part of token.split('.')) t.notOk(told.includes(part), 'no part of a token')
    t.notOk(told.toLowerCase().includes('bearer '))
  })
})

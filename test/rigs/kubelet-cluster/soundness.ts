/** What has to hold of a cluster at rest, whatever happened to it before. */
import type { Test } from 'tap'
import type { AuditReply } from '../../../shared/api/audit.schema.ts'
import type { LeaseItem } from '../../../shared/api/listing.schema.ts'
import type { ApiObject } from '../cluster-client.ts'
import { controlOn, untilReady } from './installed-cluster.ts'
import { untilHolds, type KubeletCluster } from './kubelet-cluster.ts'
import { keptPrograms, type NodeMachine } from './node-machine.ts'

/** What a caller that got half an answer writes into its log. */
const halfAnswer = 'unexpected end of JSON input'

/**
 * Waits until pods, sandboxes, links and leases agree, and states it: no address twice, nothing left over, nothing for the audit to
 * find, and no half answer in any log.
 */
export async function isSound(t: Test, cluster: KubeletCluster): Promise<void> {
  await untilReady(cluster)
  let complaints: readonly string[] = ['nobody looked']
  await untilHolds('the cluster is sound', async () => {
    complaints = await complaintsOf(cluster)
    return complaints.length === 0
  }).catch((error: unknown) => {
    t.fail(error instanceof Error ? error.message : String(error))
  })
  t.strictSame(complaints, [], 'no address twice, no leak, and the audits agree')
  for (const node of cluster.nodes)
    for (const program of keptPrograms) {
      const { stdout } = await node.run('grep', ['-F', halfAnswer, `/var/log/${program}.log`])
      t.equal(stdout, '', `no half answer in the log of ${program} on ${node.name}`)
    }
}

async function complaintsOf(cluster: KubeletCluster): Promise<readonly string[]> {
  const { items } = await cluster.api.request('GET', '/api/v1/pods')
  const pods = (items as ApiObject[]).filter(
    ({ spec, status }) => spec['hostNetwork'] !== true && !['Succeeded', 'Failed'].includes(status['phase']),
  )
  const unsettled = pods.filter(
    ({ metadata, status }) => metadata['deletionTimestamp'] !== undefined || status['podIP'] === undefined,
  )
  if (unsettled.length > 0) return unsettled.map(({ metadata }) => `${metadata['name']} is on its way`)

  const addresses = pods.map(({ status }) => status['podIP'] as string).sort()
  const complaints: string[] = []
  for (const [at, address] of addresses.entries())
    if (addresses[at + 1] === address) complaints.push(`${address} is of two pods`)
  for (const node of cluster.nodes) {
    const here = pods.filter(({ spec }) => spec['nodeName'] === node.name).length
    for (const [what, count] of Object.entries(await leftOn(node)))
      if (count !== here) complaints.push(`${node.name}: ${count} ${what} of ${here} pods`)
    complaints.push(...(await auditOf(cluster, node.name)))
  }
  const [first] = cluster.nodes
  const listed = await controlOn(cluster, first?.name ?? '', 'leases', '--state', 'bound', '-o', 'json')
  const { leases } = JSON.parse(listed.stdout) as { readonly leases: readonly LeaseItem[] }
  const bound = leases.map(({ address }) => address).sort()
  if (bound.join() !== addresses.join())
    complaints.push(`bound: ${bound.join(' ')}; of pods: ${addresses.join(' ')}`)
  return complaints
}

/** What a node has for each of its pods. */
async function leftOn(node: NodeMachine): Promise<Readonly<Record<string, number>>> {
  const count = async (script: string): Promise<number> =>
    Number((await node.must('sh', ['-c', `${script} | wc -l`])).trim())
  return {
    'network namespaces': await count('ls /run/netns'),
    links: await count('ip -oneline link show master ipk0 2>/dev/null'),
    'kept results': await count('ls /var/lib/cni/results 2>/dev/null | grep "^fixed-"'),
  }
}

async function auditOf(cluster: KubeletCluster, node: string): Promise<readonly string[]> {
  const { exit, stdout, stderr } = await controlOn(cluster, node, 'audit', '-o', 'json')
  if (exit === 0) return []
  if (stdout === '') return [`audit on ${node}: ${stderr}`]
  const { findings } = JSON.parse(stdout) as AuditReply
  return findings.map(({ says, why }) => `audit on ${node}: ${says} (${why})`)
}

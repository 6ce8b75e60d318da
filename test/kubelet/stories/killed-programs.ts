import type { Test } from 'tap'
import { untilHolds, type KubeletCluster } from '../../rigs/kubelet-cluster/kubelet-cluster.ts'
import type { NodeMachine } from '../../rigs/kubelet-cluster/node-machine.ts'
import {
  inShop,
  podsOfApp,
  statefulSetOf,
  untilGone,
  untilPodsRun,
} from '../../rigs/kubelet-cluster/workloads.ts'

const count = 20
const addresses = Object.fromEntries(
  Array.from({ length: count }, (_, ordinal) => [`many-${ordinal}`, `10.22.1.${10 + ordinal}`]),
)

/** Its executable, and not a probe of it. Processes may end meanwhile. */
const killDaemon = `
for process in /proc/[0-9]*; do
  case "$(readlink "$process/exe")" in */ipkeeper-server) ;; *) continue ;; esac
  case "$(tr '\\0' ' ' <"$process/cmdline")" in *' serve '*) kill -KILL "\${process#/proc/}" ;; esac
done 2>/dev/null
true`

const killings: readonly (readonly [what: string, kill: (node: NodeMachine) => Promise<unknown>])[] = [
  ['the daemon', node => node.must('sh', ['-c', killDaemon])],
  ['containerd', node => node.kill('containerd')],
  ['kubelet', node => node.kill('kubelet')],
]

/** Whoever is killed while pods start: each pod ends with its address. */
export async function killedPrograms(t: Test, cluster: KubeletCluster): Promise<void> {
  const annotations = { 'ipkeeper.io/ips': `10.22.1.10-10.22.1.${9 + count}` }
  await cluster.api.create(statefulSetOf('many', count, { annotations }))
  for (const [done, [what, kill]] of killings.entries()) {
    await untilHolds(`some pods run before ${what} is killed`, async () => {
      const running = (await podsOfApp(cluster, 'many')).filter(({ status }) => status['phase'] === 'Running')
      return running.length >= 2 + 4 * done
    })
    for (const node of cluster.nodes) await kill(node)
    t.pass(`${what} was killed on each node`)
  }
  await untilPodsRun(cluster, 'many', addresses)
  t.pass('each pod has its address')
  // A kill while they end: what is asked for meanwhile waits.
  await inShop(cluster, 'delete', 'statefulset', 'many', '--wait=false')
  for (const node of cluster.nodes) await node.must('sh', ['-c', killDaemon])
  await untilGone(cluster, 'many')
}

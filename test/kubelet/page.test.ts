/** docs/install/kubeadm.md, typed from the first line to the last on a cluster that has a node and nothing installed. */
import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { ApiObject } from '../rigs/cluster-client.ts'
import { findClusterProgram } from '../rigs/cluster-programs.ts'
import { followPage } from '../rigs/install-page.ts'
import { missingForKubelets, startKubeletCluster } from '../rigs/kubelet-cluster/kubelet-cluster.ts'
import { runProgram } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const deploy = join(import.meta.dirname, '..', '..', 'deploy')
const daemons = '/api/v1/namespaces/ipkeeper-system/pods'

t.test('kubeadm.md', { skip: missingForKubelets() }, async t => {
  const cluster = await startKubeletCluster(t, { nodes: 1 })
  const folder = tempFolder(t)
  cpSync(deploy, folder.file('deploy'), { recursive: true })
  const kubectl = dirname(findClusterProgram('kubectl') ?? '')
  const env = { HOME: folder.path, PATH: `${kubectl}:/usr/bin:/bin`, KUBECONFIG: cluster.api.kubeconfig }
  const podName = async (): Promise<string> =>
    ((await cluster.api.request('GET', daemons))['items'] as ApiObject[])[0]?.['metadata'].name as string
  await followPage(
    t,
    {
      shell: async (script, options) => {
        // What pages put into /tmp is a file of the test; NODE and POD are for the reader to fill in.
        const filled = script
          .replaceAll('/tmp/', `${folder.path}/`)
          .replaceAll(/\bNODE\b/g, 'n1')
          .replaceAll(/\bPOD\b/g, /\bPOD\b/.test(script) ? await podName() : '')
        return await runProgram('sh', ['-euc', filled], { ...options, cwd: folder.path, env })
      },
    },
    'kubeadm.md',
    { nodes: true },
  )
  const node = cluster.node('n1')
  t.notMatch(await node.must('ls', ['/opt/cni/bin']), /^ipkeeper$/m, 'the plugin is gone')
  t.equal(
    await node.must('ls', ['/etc/cni/net.d']),
    '10-ipkeeper.conflist.uninstalled\n',
    'and the network is put aside',
  )
})

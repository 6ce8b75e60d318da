/** What the pages on Kubernetes say to type at the API server, typed at a real one. */
import { cpSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { findClusterProgram } from '../rigs/cluster-programs.ts'
import { startCluster, workloadControllers } from '../rigs/cluster.ts'
import { followPage, readSteps } from '../rigs/install-page.ts'
import { missing } from '../rigs/requirements.ts'
import { runProgram } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('cluster', 'controllers', 'kubectl')
const root = join(import.meta.dirname, '..', '..')

t.test('the pages on Kubernetes', { skip }, async t => {
  for (const page of ['kubeadm.md', 'k3s.md']) {
    await t.test(page, async t => {
      const folder = tempFolder(t)
      cpSync(join(root, 'deploy'), folder.file('deploy'), { recursive: true })
      const api = await startCluster(t, {
        controllers: workloadControllers,
        flags: ['--allow-privileged=true'],
      })
      const kubectl = dirname(findClusterProgram('kubectl') ?? '')
      const env = { HOME: folder.path, PATH: `${kubectl}:/usr/bin:/bin`, KUBECONFIG: api.kubeconfig }
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
  t.ok(
    readSteps('talos.md').every(({ untried }) => untried !== undefined),
    'of Talos no command was tried, and the page says so',
  )
})

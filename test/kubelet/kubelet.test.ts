/**
 * Stories on a real Kubernetes with two nodes, both lines of containerd among them. Each ends with the same look at all of it.
 * STORY in the environment is a pattern for the names of those that are played; all unless set.
 */
import t, { type Test } from 'tap'
import { startInstalledCluster } from '../rigs/kubelet-cluster/installed-cluster.ts'
import { missingForKubelets, type KubeletCluster } from '../rigs/kubelet-cluster/kubelet-cluster.ts'
import { isSound } from '../rigs/kubelet-cluster/soundness.ts'
import { missing, type Requirement } from '../rigs/requirements.ts'
import { brokenNetwork } from './stories/broken-network.ts'
import { darkCluster } from './stories/dark-cluster.ts'
import { deployment } from './stories/deployment.ts'
import { drain } from './stories/drain.ts'
import { killedPrograms } from './stories/killed-programs.ts'
import { oneAddressTwice } from './stories/one-address-twice.ts'
import { outOfService } from './stories/out-of-service.ts'
import { ownRollout } from './stories/own-rollout.ts'
import { powerCut } from './stories/power-cut.ts'
import { runtimeUpgrade } from './stories/runtime-upgrade.ts'
import { serverAway } from './stories/server-away.ts'
import { statefulSet } from './stories/stateful-set.ts'

type Story = (t: Test, cluster: KubeletCluster) => Promise<void>

const stories: readonly (readonly [name: string, story: Story, ...needs: Requirement[]])[] = [
  ['a StatefulSet keeps its addresses', statefulSet],
  ['two pods ask for one address', oneAddressTwice],
  ['programs are killed while twenty pods start', killedPrograms],
  ['the network of a node is broken, and mended', brokenNetwork],
  ['the power of a node fails', powerCut],
  ['the power of all nodes fails', darkCluster],
  ['a Deployment has one address', deployment],
  ['a node is drained', drain],
  ['the API server is away', serverAway],
  ['ipkeeper is rolled out under churn', ownRollout],
  ['a node is out of service', outOfService],
  ['containerd is upgraded under running pods', runtimeUpgrade, 'callers'],
]

t.test('stories on a real cluster', { skip: missingForKubelets() }, async t => {
  const cluster = await startInstalledCluster(t, { nodes: 2 })
  const wanted = new RegExp(process.env['STORY'] ?? '')
  for (const [name, story, ...needs] of stories.filter(([name]) => wanted.test(name)))
    await t.test(name, { skip: missing(...needs) }, async t => {
      await story(t, cluster)
      await isSound(t, cluster)
    })
})

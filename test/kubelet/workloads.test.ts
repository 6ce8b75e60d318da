/** What people do to a cluster on a good day: workloads come, move and go, and programs are upgraded. */
import t from 'tap'
import { playStories } from '../rigs/kubelet-cluster/play-stories.ts'
import { deployment } from './stories/deployment.ts'
import { drain } from './stories/drain.ts'
import { oneAddressTwice } from './stories/one-address-twice.ts'
import { ownRollout } from './stories/own-rollout.ts'
import { runtimeUpgrade } from './stories/runtime-upgrade.ts'
import { statefulSet } from './stories/stateful-set.ts'

await playStories(t, 'workloads on a real cluster', [
  ['a StatefulSet keeps its addresses', statefulSet],
  ['two pods ask for one address', oneAddressTwice],
  ['a Deployment has one address', deployment],
  ['a node is drained', drain],
  ['ipkeeper is rolled out under churn', ownRollout],
  ['containerd is upgraded under running pods', runtimeUpgrade, 'callers'],
])

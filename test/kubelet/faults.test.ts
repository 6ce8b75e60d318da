/** What happens to a cluster on a bad day: programs are killed, nodes lose their power, files are broken, the API is away. */
import t from 'tap'
import { playStories } from '../rigs/kubelet-cluster/play-stories.ts'
import { brokenNetwork } from './stories/broken-network.ts'
import { darkCluster } from './stories/dark-cluster.ts'
import { killedPrograms } from './stories/killed-programs.ts'
import { outOfService } from './stories/out-of-service.ts'
import { powerCut } from './stories/power-cut.ts'
import { serverAway } from './stories/server-away.ts'

await playStories(t, 'faults of a real cluster', [
  ['programs are killed while twenty pods start', killedPrograms],
  ['the network of a node is broken, and mended', brokenNetwork],
  ['the power of a node fails', powerCut],
  ['the power of all nodes fails', darkCluster],
  ['the API server is away', serverAway],
  ['a node is out of service', outOfService],
])

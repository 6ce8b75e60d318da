/** The metrics of the machine's containerd that alerts and dashboard use, switched on as the snippets say. */
import t from 'tap'
import { checkContainerdMetrics } from '../rigs/check-containerd-metrics.ts'
import { installedContainerd } from '../rigs/containerd-release.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('namespaces', 'containerd', 'reference-plugins')

t.test('metrics of containerd', { skip }, async t => {
  await checkContainerdMetrics(t, installedContainerd())
})

/** The metrics of containerd 2 that alerts and dashboard use, switched on as the snippets say. */
import t from 'tap'
import { checkContainerdMetrics } from '../rigs/check-containerd-metrics.ts'
import { currentContainerd } from '../rigs/containerd-release.ts'
import { missing } from '../rigs/requirements.ts'

const skip = missing('go', 'callers', 'namespaces', 'runc')

t.test('metrics of containerd 2', { skip }, async t => {
  await checkContainerdMetrics(t, currentContainerd)
})

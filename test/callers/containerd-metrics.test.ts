/** The metrics of containerd 2 that alerts and dashboard use, switched on as the snippets say. */
import { join } from 'node:path'
import t from 'tap'
import { checkContainerdMetrics } from '../rigs/check-containerd-metrics.ts'
import { currentContainerd } from '../rigs/containerd-release.ts'
import { findReferencePlugins, missing } from '../rigs/requirements.ts'

const skip = missing('go', 'callers', 'namespaces', 'runc', 'reference-plugins')

t.test('metrics of containerd 2', { skip }, async t => {
  const hostLocal = join(findReferencePlugins() ?? '', 'host-local')
  await checkContainerdMetrics(t, currentContainerd, { 'host-local': hostLocal })
})

/**
 * Builds programs of Kubernetes for the tests from the Go module test/tools: its go.mod names them, with their version. Nothing is
 * done when they are there or KUBEBUILDER_ASSETS gives others, and nothing but one line said where no Go is that could build them.
 *
 *   node scripts/build-tools.ts             the API server, the controllers, kubectl: .cache/tools/DIGEST/, about 250 MB
 *   node scripts/build-tools.ts --nodes     what nodes run as well, and the scheduler: .cache/node-tools/DIGEST/, about 200 MB
 *
 * The first time takes four to five minutes on two cores, with --nodes two more, and leaves about 3 GB in Go's own caches.
 */
import { parseArgs } from 'node:util'
import type { GoModule } from '../test/rigs/go-module.ts'
import { givenPrograms, nodeTools, tools } from '../test/rigs/cluster-programs.ts'
import { buildGoModule } from './go-build.ts'

const { values: options } = parseArgs({ options: { nodes: { type: 'boolean', default: false } } })

const version = tools.versionOf('k8s.io/kubernetes')
const [major = '', minor = ''] = version.split('.')

/** Without these the programs call themselves v0.0.0-master+$Format:%H$. */
const stamps = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor }

const build = (module: GoModule, name: string, programs: readonly string[]): boolean =>
  buildGoModule({
    module,
    name,
    about: `${programs.join(', ')}; takes minutes the first time`,
    linkerFlags: Object.entries(stamps).map(
      ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
    ),
    packages: programs.map(program => `k8s.io/kubernetes/cmd/${program}`),
    timeoutMs: 30 * 60_000,
  })

if (givenPrograms !== '')
  console.log(`build: cluster programs taken from KUBEBUILDER_ASSETS=${givenPrograms}`)
else {
  const controlPlane = ['kube-apiserver', 'kube-controller-manager', 'kubectl']
  const built =
    build(tools, 'cluster programs', controlPlane) &&
    (!options.nodes || build(nodeTools, 'node programs', ['kubelet', 'kube-proxy', 'kube-scheduler']))
  if (!built) process.exitCode = 1
}

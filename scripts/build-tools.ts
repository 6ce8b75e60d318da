/**
 * Builds the API server, the controllers and kubectl of test/cluster from the Go module test/tools: its go.mod names them, with
 * their version. Nothing is done when they are there or KUBEBUILDER_ASSETS gives others, and nothing but one line said
 * where no Go is that could build them.
 *
 *   node scripts/build-tools.ts     .cache/tools/DIGEST/, about 250 MB
 *
 * The first time takes four to five minutes on two cores and leaves about 3 GB in Go's own caches.
 */
import { givenPrograms, tools } from '../test/rigs/cluster-programs.ts'
import { buildGoModule } from './go-build.ts'

const version = tools.versionOf('k8s.io/kubernetes')
const [major = '', minor = ''] = version.split('.')

/** Without these the server calls itself v0.0.0-master+$Format:%H$. */
const stamps = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor }

if (givenPrograms !== '')
  console.log(`build: cluster programs taken from KUBEBUILDER_ASSETS=${givenPrograms}`)
else {
  const built = buildGoModule({
    module: tools,
    name: 'cluster programs',
    about: 'kube-apiserver, kube-controller-manager, kubectl; takes minutes the first time',
    linkerFlags: Object.entries(stamps).map(
      ([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`,
    ),
    packages: ['tool'],
    timeoutMs: 30 * 60_000,
  })
  if (!built) process.exitCode = 1
}

/**
 * Builds the helm of the chart's tests from the Go module test/tools-helm: its go.mod names it, with its version. Nothing is
 * done when it is there, and nothing but one line said where no Go is that could build it.
 *
 *   node scripts/build-helm.ts     .cache/helm/DIGEST/, about 60 MB
 */
import { helmModule } from '../test/rigs/helm-module.ts'
import { buildGoModule } from './go-build.ts'

const built = buildGoModule({
  module: helmModule,
  name: 'helm',
  about: 'for the tests of the chart; a minute or two the first time',
  linkerFlags: [`-X helm.sh/helm/v4/internal/version.version=v${helmModule.versionOf('helm.sh/helm/v4')}`],
  packages: ['tool'],
  timeoutMs: 15 * 60_000,
})
if (!built) process.exitCode = 1

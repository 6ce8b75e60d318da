/**
 * Builds Multus for test/callers/multus*.test.ts from the Go module scripts/multus: its go.mod names it, with its version.
 * Nothing is done when it is there, and nothing but one line said where no Go is that could build it.
 *
 *   node scripts/build-multus.ts     .cache/multus/DIGEST/, about 40 MB
 */
import { multusModule, multusPackage } from '../test/rigs/multus.ts'
import { buildGoModule } from './go-build.ts'

const built = buildGoModule({
  module: multusModule,
  name: 'multus',
  about: 'networks of further interfaces; one to three minutes the first time',
  packages: [multusPackage],
  timeoutMs: 15 * 60_000,
})
if (!built) process.exitCode = 1

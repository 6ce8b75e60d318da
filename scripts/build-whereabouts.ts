/**
 * Builds whereabouts for the benchmark from the Go module bench/whereabouts: its go.mod names it, with its version. Nothing
 * is done when it is there, and nothing but one line said where no Go is that could build it.
 *
 *   node scripts/build-whereabouts.ts     .cache/whereabouts/DIGEST/, about 50 MB
 */
import { whereaboutsModule, whereaboutsPackage } from '../bench/whereabouts/module.ts'
import { buildGoModule } from './go-build.ts'

const built = buildGoModule({
  module: whereaboutsModule,
  name: 'whereabouts',
  about: 'an IPAM plugin to measure against; about a minute the first time',
  packages: [whereaboutsPackage],
  timeoutMs: 15 * 60_000,
})
if (!built) process.exitCode = 1

/**
 * Builds the callers of test/callers (cnitool, go-cni, reference plugins, containerd) from the Go module
 * scripts/callers: its go.mod names them all, as tools, with their versions, and go.sum what must come for them.
 * Nothing is done when they are there, and nothing but one line said where no Go is that could build them.
 *
 *   node scripts/build-callers.ts     .cache/callers/DIGEST/, about 110 MB
 *
 * The first time takes one to two minutes and leaves about 1.3 GB in Go's own caches; a later one, with another
 * version of something, builds what has changed.
 */
import { callers } from '../test/rigs/callers.ts'
import { buildGoModule } from './go-build.ts'

const built = buildGoModule({
  module: callers,
  name: 'callers',
  about: 'cnitool, go-cni, reference plugins, containerd; takes minutes the first time',
  // A sandbox needs none of these snapshotters, and they are much to compile.
  options: ['-tags', 'no_btrfs no_devmapper no_zfs'],
  packages: ['tool', './go-cni'],
  timeoutMs: 15 * 60_000,
})
if (!built) process.exitCode = 1

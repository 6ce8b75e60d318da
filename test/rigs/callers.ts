import { goModule } from './go-module.ts'

/**
 * Real callers of CNI plugins in versions that no distribution has yet: cnitool, go-cni, the reference plugins and
 * containerd, built by `make callers`. scripts/callers/go.mod alone says which, and in which version.
 */
export const callers = goModule('callers', 'scripts/callers', 'scripts/build-callers.ts')

/** The folder of their executables. */
export const callersFolder = callers.built

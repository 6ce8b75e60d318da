import type { Conflist } from './pod-runtime.ts'

/** Who wires the pod: the reference bridge, with ipkeeper for its address, or ipkeeper itself. */
export const wiringPlugins = ['bridge', 'ipkeeper'] as const
export type WiringPlugin = (typeof wiringPlugins)[number]

export interface FixedNetworkOptions {
  /** Default: bridge. */
  readonly wiring?: WiringPlugin
  readonly socket: string
  readonly stateDir: string
  readonly cniVersion?: string
  /** host-local style range sets. */
  readonly ranges?: readonly (readonly Readonly<Record<string, string>>[])[]
  /** Seconds that ADD may take. */
  readonly timeout?: number
}

/**
 * A pool of the daemon's configuration beside the ranges of the network, of the same subnet: the reference bridge gives
 * its interface one address of each family, and refuses to add that of a second subnet.
 */
export const labPool = {
  name: 'lab',
  subnet: '10.22.0.0/16',
  rangeStart: '10.22.200.10',
  rangeEnd: '10.22.200.20',
} as const

/** Ranges of the network that leave room for it. */
export const besideLab = [[{ subnet: '10.22.0.0/16', rangeEnd: '10.22.199.255' }]] as const

/** The conflist of the README: a bridge, ipkeeper for addresses, annotations handed on by the runtime. */
export function fixedNetwork(options: FixedNetworkOptions): Conflist {
  const { wiring = 'bridge', socket, stateDir, cniVersion = '1.0.0', timeout } = options
  const { ranges = [[{ subnet: '10.22.0.0/16' }]] } = options
  return {
    cniVersion,
    name: 'fixed',
    plugins: [
      {
        type: wiring,
        bridge: 'cni0',
        isGateway: true,
        capabilities: { 'io.kubernetes.cri.pod-annotations': true },
        ipam: { type: 'ipkeeper', socket, stateDir, ranges, ...(timeout === undefined ? {} : { timeout }) },
      },
    ],
  }
}

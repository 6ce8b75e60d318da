import { Problem } from '../../shared/problem/problem.ts'
import { rangesComeWithAdd, readIdentity, readIpamConfig } from '../ipam/request/network-config.ts'
import type { Pool } from '../ipam/pools/pool.ts'
import { usesIpkeeper } from '../diagnose/lint/uses-ipkeeper.ts'
import { readNetworks } from './read-networks.ts'

/** Ranges that stand in network configurations; `complete`: none comes with an ADD only, or cannot be read. */
export interface NetworkPools {
  readonly pools: readonly Pool[]
  readonly complete: boolean
}

/** The ranges of the networks in a runtime's folder that have their addresses from ipkeeper. */
export async function readNetworkPools(directory: string): Promise<NetworkPools> {
  const pools: Pool[] = []
  let complete = true
  for (const { name, cniVersion, plugins } of await readNetworks(directory)) {
    for (const plugin of plugins.filter(usesIpkeeper)) {
      const config = { cniVersion, ...plugin, name }
      try {
        if (rangesComeWithAdd(config)) complete = false
        else {
          const { inline } = readIpamConfig(config, readIdentity(config))
          if (inline) pools.push(inline)
        }
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        complete = false
      }
    }
  }
  return { pools, complete }
}

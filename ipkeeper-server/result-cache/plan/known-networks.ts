import type { LoadedNetwork } from '../../diagnose/lint/loaded-networks.ts'
import { usesIpkeeper } from '../../diagnose/lint/uses-ipkeeper.ts'
import type { WholeConflist } from './cached-result.ts'

export interface KnownNetwork {
  /** Whether a plugin of it is ipkeeper, or has its addresses from it. */
  readonly usesIpkeeper: boolean
  /** undefined where no Result can be written in its version. */
  readonly conflist: WholeConflist | undefined
}

/** Networks by their names; of two files with one name the first one counts, as it does for runtimes. */
export function knownNetworks(loaded: readonly LoadedNetwork[]): ReadonlyMap<string, KnownNetwork> {
  const networks = new Map<string, KnownNetwork>()
  for (const { name, cniVersion, plugins, list } of loaded) {
    if (name === '' || networks.has(name)) continue
    const conflist = cniVersion && { name, cniVersion, base64: Buffer.from(list).toString('base64') }
    networks.set(name, { usesIpkeeper: plugins.some(usesIpkeeper), conflist })
  }
  return networks
}

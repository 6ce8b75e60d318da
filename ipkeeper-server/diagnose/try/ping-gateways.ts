import { parseAddress } from '../../../shared/net/address.ts'
import type { PluginResult } from './plugin-result.ts'
import { failure, warning, type Ping } from './report.ts'
import { findProgram } from '../../host/find-program.ts'
import type { ScratchNamespaces } from './scratch-namespace.ts'

/** Duplicate address detection and the first neighbour discovery take up to some seconds. */
const tries = 5
const timeoutMs = 3000

/** Every gateway of a Result, once each: of its addresses, and next hops of its routes. */
export function gatewaysOf({ ips, routes }: PluginResult): readonly string[] {
  const all = [...ips.map(({ gateway }) => gateway), ...routes.map(({ gw }) => gw)]
  // The text comes from a plugin, and becomes an argument: an address, and nothing else.
  return [...new Set(all)].filter(text => text !== undefined).filter(text => parseAddress(text) !== undefined)
}

/** Pings one gateway from inside the namespace until it answers. */
export async function pingGateway(
  namespaces: ScratchNamespaces,
  name: string,
  gateway: string,
  { path, signal }: { readonly path: string | undefined; readonly signal: AbortSignal },
): Promise<Ping> {
  const program = findProgram('ping', path)
  if (program === undefined) {
    const finding = warning(
      `gateway ${gateway} was not pinged: ping is not installed`,
      'apt-get install iputils-ping',
    )
    return { gateway, answered: null, findings: [finding] }
  }
  for (let count = 0; count < tries && !signal.aborted; count++) {
    const exit = await namespaces.run(name, [program, '-q', '-c', '1', '-W', '1', gateway], timeoutMs)
    if (exit === 0) return { gateway, answered: true, findings: [] }
  }
  if (signal.aborted) return { gateway, answered: null, findings: [] }
  const finding = failure(
    `gateway ${gateway} does not answer`,
    'does anything have that address? A bridge needs "isGateway": true; macvlan and underlay need the router of the LAN; a firewall may drop ICMP',
  )
  return { gateway, answered: false, findings: [finding] }
}

import { isIpv6, withoutPrefix } from '../../../shared/net/address-text.ts'
import type { ResultAddress, ResultRoute, CniResult, ResultInterface } from '../../../shared/cni/result.ts'
import type { WiringMode, WiringRecord } from '../../ipam/records/records.ts'
import type { GatewayFacts } from './bridge-addresses.ts'
import { bridgeCommands } from './bridge.ts'
import type { Command } from './command.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import { macvlanCommands } from './macvlan.ts'
import { checkMtuCarries, checkMtuFits } from './mtu-limits.ts'
import { podMac, sparePodMac } from '../../ipam/choose/pod-mac.ts'
import { podRoutes } from './pod-routes.ts'
import { ptpCommands } from './ptp.ts'
import type { Survey, WiringCommands, WiringJob } from './wiring-job.ts'
import { checkGateways, checkHost } from './check-host.ts'
import { nodeGateway, underlayCommands } from './underlay.ts'

/** What an ADD has decided, as far as the wiring depends on it. */
export interface Granted {
  readonly ips: readonly ResultAddress[]
  readonly routes: readonly ResultRoute[]
  /** What the pod asked for; null when nothing. */
  readonly mac: string | null
  /** Addresses that were asked for by name, without prefix. */
  readonly named: readonly string[]
  /** Whether a living pod has asked for a MAC. */
  readonly isChosen?: (mac: string) => boolean
}

/**
 * How a pod is to be wired: what is recorded before anything is done.
 *
 * @throws IPK_LINK_CONFLICT, IPK_CONFIG_INVALID; nothing has been touched then
 */
export function planWiring(
  config: MainConfig,
  survey: Survey,
  { ips, routes, mac, named, isChosen }: Granted,
  gateways: GatewayFacts,
): WiringRecord {
  const { mode } = config
  checkGateways(ips)
  checkMtuCarries(survey.mtu, new Set(ips.map(({ address }) => (isIpv6(address) ? 6 : 4))))
  if (survey.uplink) checkMtuFits(survey.mtu, survey.uplink)
  checkHost(config, survey, ips, gateways)
  const addresses = ips.map(({ address }) => withoutPrefix(address))
  const hasVeth = mode !== 'macvlan'
  return {
    mode,
    mac:
      mac ?? config.mac?.mac ?? (isChosen?.(podMac(addresses)) ? sparePodMac(addresses) : podMac(addresses)),
    mtu: survey.mtu,
    hostLink: hasVeth ? { name: survey.names.hostLink, mac: survey.names.hostMac } : null,
    master: mode === 'macvlan' ? (survey.uplink?.name ?? null) : mode === 'ptp' ? null : config.bridge,
    routes: podRoutes(config, ips, routes, ipv6 =>
      mode === 'underlay' ? nodeGateway(config, survey, ips, ipv6) : undefined,
    ),
    masqueraded:
      config.masquerade === 'none'
        ? []
        : addresses.filter(address => config.masquerade === 'all' || !named.includes(address)),
    proxyOn: mode === 'ptp' ? (config.uplink ?? null) : null,
  }
}

/** One file for each mode. */
const commandsOf: Readonly<Record<WiringMode, (job: WiringJob) => WiringCommands>> = {
  bridge: bridgeCommands,
  ptp: ptpCommands,
  macvlan: macvlanCommands,
  underlay: underlayCommands,
}

/** The commands that wire a pod. */
export function wiringCommands(job: WiringJob): WiringCommands {
  return commandsOf[job.wiring.mode](job)
}

/**
 * What the host has of an ADD besides its link; each is fine when there is nothing to take back.
 *
 * @param addresses that the attachment still has, without prefix
 */
export function unwiringCommands(
  { proxyOn }: Pick<WiringRecord, 'proxyOn'>,
  addresses: readonly string[],
): Command[] {
  if (proxyOn === null) return []
  return addresses.map(address => ({
    place: 'host',
    words: ['neighbour', 'delete', 'proxy', address, 'dev', proxyOn],
    about: `stop answering for ${address} on ${proxyOn}`,
    missing: 'fine',
  }))
}

/**
 * Links of the host that have to take no routers' announcements, as pods could send them. A bridge by which the node itself
 * may live is left as it is: its way out may come from such an announcement.
 */
export function guardedLinks(
  { mode, bridge, isGateway, moveHostAddresses }: MainConfig,
  { bridge: present, nodeAddresses }: Pick<Survey, 'bridge' | 'nodeAddresses'>,
  { hostLink }: Pick<WiringRecord, 'hostLink'>,
): readonly string[] {
  switch (mode) {
    case 'bridge': {
      const isOfNode = !isGateway && present?.state === 'bridge' && present.addresses.length > 0
      return isOfNode ? [] : [bridge]
    }
    case 'underlay':
      return moveHostAddresses || nodeAddresses.length > 0 ? [] : [bridge]
    case 'ptp':
      return hostLink ? [hostLink.name] : []
    case 'macvlan':
      return []
  }
}

/**
 * The Result of the main role: interfaces in the reference plugins' order (bridge, host's side, pod's side), the pod's
 * with CNI_IFNAME and CNI_NETNS verbatim (catalogue E7), and its addresses pointing to it.
 */
export function wiredResult(
  result: CniResult,
  { wiring, config, survey }: Pick<WiringJob, 'wiring' | 'config' | 'survey'>,
  pod: { readonly ifname: string; readonly netns: string },
): CniResult {
  const { bridge } = survey
  const { mtu } = wiring
  const interfaces: ResultInterface[] = [
    ...(bridge && bridge.state !== 'other' ? [{ name: config.bridge, mac: bridge.mac }] : []),
    ...(wiring.hostLink ? [{ ...wiring.hostLink, mtu }] : []),
    { name: pod.ifname, mac: wiring.mac, mtu, sandbox: pod.netns },
  ]
  const index = interfaces.length - 1
  const hasOwnDns = Object.keys(config.dns).length > 0
  return {
    interfaces,
    ips: result.ips.map(ip => ({ ...ip, interface: index })),
    routes: wiring.routes,
    dns: hasOwnDns ? config.dns : result.dns,
  }
}

import { isIpv6, withoutPrefix } from '../../../shared/net/address-text.ts'
import type { ResultAddress, ResultRoute } from '../../../shared/cni/result.ts'
import { parseAddress } from '../../../shared/net/address.ts'
import { cidrContains, parseCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { WiringMode, WiringRecord } from '../../ipam/records/records.ts'
import { bridgeCommands } from './bridge.ts'
import type { Command } from './command.ts'
import { gatewayCidrs } from './gateway-address.ts'
import type { MainConfig } from '../../ipam/records/main-config.ts'
import { macvlanCommands } from './macvlan.ts'
import { checkMtuCarries, checkMtuFits } from './mtu-limits.ts'
import { podMac, sparePodMac } from '../../ipam/choose/pod-mac.ts'
import { podRoutes } from './pod-routes.ts'
import { ptpCommands } from './ptp.ts'
import type { Survey } from './survey.ts'
import { checkUplink } from './check-uplink.ts'
import { nodeGateway, underlayCommands } from './underlay.ts'
import type { WiringCommands } from './wiring-commands.ts'
import type { WiringJob } from './wiring-job.ts'

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
 * @param isGateway whether an address is the gateway of a pool
 * @throws IPK_LINK_CONFLICT, IPK_CONFIG_INVALID; nothing has been touched then
 */
export function planWiring(
  config: MainConfig,
  survey: Survey,
  { ips, routes, mac, named, isChosen }: Granted,
  isGateway: (address: string) => boolean,
): WiringRecord {
  const { mode } = config
  checkGateways(ips)
  checkMtuCarries(survey.mtu, new Set(ips.map(({ address }) => (isIpv6(address) ? 6 : 4))))
  if (survey.uplink) checkMtuFits(survey.mtu, survey.uplink)
  checkHost(config, survey, ips, isGateway)
  const addresses = ips.map(({ address }) => withoutPrefix(address))
  const hasVeth = mode !== 'macvlan'
  return {
    mode,
    mac: mac ?? config.mac ?? (isChosen?.(podMac(addresses)) ? sparePodMac(addresses) : podMac(addresses)),
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

/** Whether the links of the host are such that the pod can be wired. Throws IPK_LINK_CONFLICT, IPK_CONFIG_INVALID. */
export function checkHost(
  config: MainConfig,
  survey: Survey,
  ips: readonly ResultAddress[],
  isGateway: (address: string) => boolean,
): void {
  if (survey.bridge) checkBridge(config, survey, ips, isGateway)
  checkUplink(config, survey)
}

/** What stands under the bridge's name must be a bridge, with addresses of pools only. Throws IPK_LINK_CONFLICT. */
function checkBridge(
  { mode, bridge, isGateway, vlan }: MainConfig,
  survey: Survey,
  ips: readonly ResultAddress[],
  isPoolGateway: (address: string) => boolean,
): void {
  const present = survey.bridge
  if (present?.state === 'other') {
    const kind = present.kind === '' ? 'a plain link' : `a ${present.kind}`
    throw new Problem('IPK_LINK_CONFLICT', `"bridge": ${bridge} exists, but is ${kind}`, {
      hint: `give the network another "bridge", or remove that link: ip link delete ${bridge}`,
    })
  }
  if (present?.state !== 'bridge') return
  if (vlan !== undefined && !present.filtersVlans) {
    throw new Problem('IPK_LINK_CONFLICT', `"vlan": bridge ${bridge} exists, but does not know VLANs`, {
      hint: `ip link set dev ${bridge} type bridge vlan_filtering 1; or give the network another "bridge"`,
    })
  }
  // The bridge of an underlay may have the node's own addresses, in the subnet of its pods.
  if (!isGateway || mode === 'underlay') return
  const wanted = gatewayCidrs(ips)
  for (const address of present.addresses) {
    if (wanted.includes(address)) continue
    const overlaps = wanted.some(gateway => overlap(gateway, address))
    if (isPoolGateway(withoutPrefix(address)) && !overlaps) continue
    const needed = wanted.join(' and ')
    throw new Problem(
      'IPK_LINK_CONFLICT',
      `bridge ${bridge} has address ${address}, which is not the gateway of a pool; this network needs ${needed}`,
      {
        hint: `ip address delete ${address} dev ${bridge}; or name another "bridge"; or set "isGateway": false`,
      },
    )
  }
}

/** A pod looks for its gateway on its own link, so that has to be in its subnet. */
function checkGateways(ips: readonly ResultAddress[]): void {
  for (const { address, gateway } of ips) {
    const subnet = parseCidr(address)
    const there = gateway === undefined ? undefined : parseAddress(gateway)
    if (!subnet || !there || cidrContains(subnet, there)) continue
    throw new Problem('IPK_CONFIG_INVALID', `gateway ${gateway ?? ''} is not in the subnet of ${address}`, {
      hint: 'correct "gateway" of the range',
    })
  }
}

function overlap(a: string, b: string): boolean {
  const [left, right] = [parseCidr(a), parseCidr(b)]
  return (
    left !== undefined &&
    right !== undefined &&
    (cidrContains(left, right.address) || cidrContains(right, left.address))
  )
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

import { parseAddress } from '../../../shared/net/address.ts'
import { cidrContains, parseCidr } from '../../../shared/net/cidr.ts'
import type { ResultAddress } from '../../../shared/cni/result.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import { judgeAddresses, type GatewayFacts } from './bridge-addresses.ts'
import { gatewayCidrs } from './bridge.ts'
import type { Survey, UplinkFacts } from './wiring-job.ts'

/** A link, the network that wants it, and what is known of both. */
interface Case {
  readonly config: MainConfig
  readonly uplink: UplinkFacts
  readonly survey: Omit<Survey, 'names'>
}

/** A state of the host with which pods cannot be joined to an uplink; `what` follows the name of the uplink. */
interface Obstacle {
  readonly modes: readonly MainConfig['mode'][]
  readonly found: (it: Case) => boolean
  readonly what: (it: Case) => string
  readonly hint: (it: Case) => string
}

const isJoined = ({ config, uplink }: Case): boolean => uplink.master === config.bridge

const addresses = ({ uplink }: Case): string => uplink.addresses.join(', ')

const obstacles: readonly Obstacle[] = [
  {
    modes: ['macvlan', 'underlay'],
    found: ({ uplink }) => !uplink.ethernet,
    what: () => 'carries no Ethernet frames, and pods have MAC addresses',
    hint: () => 'name another link of the host; or write "mode": "ptp", which routes',
  },
  {
    modes: ['underlay'],
    found: ({ uplink }) => uplink.kind === 'bridge',
    what: () => 'is a bridge itself, which cannot be the port of another one',
    hint: ({ uplink }) =>
      `to join pods to it, write "mode": "bridge", "bridge": "${uplink.name}", "isGateway": false`,
  },
  {
    modes: ['macvlan'],
    found: ({ uplink }) => uplink.master !== undefined && uplink.portKind !== 'vrf',
    what: ({ uplink }) =>
      `is a port of ${uplink.portKind || 'link'} ${uplink.master ?? ''}, which takes all that it receives`,
    hint: ({ uplink }) =>
      `name that one: "uplink": "${uplink.master ?? ''}"` +
      (uplink.portKind === 'bridge'
        ? `; or write "mode": "underlay", "bridge": "${uplink.master ?? ''}"`
        : ''),
  },
  {
    modes: ['underlay'],
    found: it => it.uplink.master !== undefined && !isJoined(it),
    what: ({ uplink }) => `is a port of ${uplink.portKind || 'link'} ${uplink.master ?? ''} already`,
    hint: ({ uplink }) =>
      uplink.portKind === 'bridge'
        ? `write "bridge": "${uplink.master ?? ''}"; or take it out: ip link set dev ${uplink.name} nomaster`
        : `write "uplink": "${uplink.master ?? ''}"`,
  },
  {
    modes: ['underlay'],
    found: it => !isJoined(it) && it.survey.foreignPorts.length > 0,
    what: ({ config, survey }) =>
      `is no port of bridge ${config.bridge}, which has others: ${survey.foreignPorts.join(', ')}`,
    hint: ({ config, uplink }) =>
      `to join the two networks: ip link set dev ${uplink.name} master ${config.bridge}; ` +
      'to keep them apart, give this one another "bridge"',
  },
  {
    modes: ['underlay'],
    found: it =>
      !isJoined(it) &&
      !it.config.moveHostAddresses &&
      (it.uplink.addresses.length > 0 || it.uplink.carriesDefaultRoute),
    what: it =>
      it.uplink.addresses.length > 0
        ? `has addresses of the host (${addresses(it)}), which a port of a bridge cannot use`
        : 'carries the default route of the host, which cannot lead to a port of a bridge',
    hint: ({ config }) =>
      `write "moveHostAddresses": true, which moves addresses and routes to bridge ${config.bridge}; ` +
      'or name a link that the host itself does not use',
  },
]

/**
 * Whether the uplink can carry pods in this mode.
 *
 * @throws Problem IPK_LINK_CONFLICT, IPK_CONFIG_INVALID, with what to do; nothing has been touched then
 */
export function checkUplink(config: MainConfig, survey: Omit<Survey, 'names'>): void {
  const { mode, vlan, isGateway } = config
  const { uplink } = survey
  if (mode === 'underlay' && vlan !== undefined && isGateway) {
    throw new Problem(
      'IPK_CONFIG_INVALID',
      `"isGateway": bridge ${config.bridge} is in the VLAN of the node, its pods are in "vlan": ${vlan}`,
      { hint: 'take "isGateway" out, and let the router of that VLAN be the gateway' },
    )
  }
  if (!uplink) {
    if (mode !== 'macvlan') return
    throw new Problem(
      'IPK_LINK_CONFLICT',
      'mode macvlan needs an uplink, and the host has no default route',
      {
        hint: 'name a link of the host: "uplink": "eth1"; ip -brief link shows them',
      },
    )
  }
  const it = { config, uplink, survey }
  const obstacle = obstacles.find(({ modes, found }) => modes.includes(mode) && found(it))
  if (!obstacle) return
  throw new Problem('IPK_LINK_CONFLICT', `uplink ${uplink.name} ${obstacle.what(it)}`, {
    hint: obstacle.hint(it),
  })
}

/** Whether the links of the host are such that the pod can be wired. Throws IPK_LINK_CONFLICT, IPK_CONFIG_INVALID. */
export function checkHost(
  config: MainConfig,
  survey: Survey,
  ips: readonly ResultAddress[],
  gateways: GatewayFacts,
): void {
  if (survey.bridge) checkBridge(config, survey, ips, gateways)
  checkUplink(config, survey)
}

/** What stands under the bridge's name must be a bridge, with addresses of pools only. Throws IPK_LINK_CONFLICT. */
function checkBridge(
  config: MainConfig,
  survey: Survey,
  ips: readonly ResultAddress[],
  gateways: GatewayFacts,
): void {
  const { mode, bridge, isGateway, vlan } = config
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
  const [first] = judgeAddresses(config, present, wanted, gateways).inTheWay
  if (first !== undefined) throw addressConflict(bridge, first, wanted, gateways.podsBehind(first, bridge))
}

/** How many pods a refusal names. */
const shownPods = 3

function addressConflict(
  bridge: string,
  address: string,
  wanted: readonly string[],
  pods: readonly string[],
): Problem {
  const needs = `this network needs ${wanted.join(' and ')}`
  const other = 'name another "bridge"; or set "isGateway": false'
  if (pods.length === 0) {
    return new Problem(
      'IPK_LINK_CONFLICT',
      `bridge ${bridge} has address ${address}, which is not the gateway of a pool; ${needs}`,
      { hint: `ip address delete ${address} dev ${bridge}; or ${other}` },
    )
  }
  const more = pods.length - shownPods
  const names = `${pods.slice(0, shownPods).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
  return new Problem(
    'IPK_LINK_CONFLICT',
    `bridge ${bridge} has address ${address}, which is the gateway of ${names}; ${needs}`,
    { hint: `delete ${pods.length === 1 ? 'that pod' : 'those pods'} first; or ${other}` },
  )
}

/** A pod looks for its gateway on its own link, so that has to be in its subnet. */
export function checkGateways(ips: readonly ResultAddress[]): void {
  for (const { address, gateway } of ips) {
    const subnet = parseCidr(address)
    const there = gateway === undefined ? undefined : parseAddress(gateway)
    if (!subnet || !there || cidrContains(subnet, there)) continue
    throw new Problem('IPK_CONFIG_INVALID', `gateway ${gateway ?? ''} is not in the subnet of ${address}`, {
      hint: 'correct "gateway" of the range',
    })
  }
}

import { formatAddress } from '../../../shared/net/address.ts'
import { isIpv6 } from '../../../shared/net/address-text.ts'
import { forgetNeighbourCommands } from './announcement.ts'
import type { Command } from './command.ts'
import { leastOfIpv6 } from './mtu-limits.ts'
import type { WiringJob, WiringCommands } from './wiring-job.ts'
import { createVeth, vethOfPod } from './veth.ts'
import type { ResultAddress } from '../../../shared/cni/result.ts'

/** Marks a bridge that an ADD has made. */
const bridgeAlias = 'ipkeeper bridge'

/**
 * Makes the bridge. Its MAC is set, so that it does not change with its ports: a bridge without one takes the lowest of
 * theirs, and pods would look for their gateway under an old one. A gateway of IPv6 gets its link-local address here too:
 * the kernel's own would be tentative for up to two seconds, in which the node asks no pod for its MAC and forwards nothing
 * to it.
 */
export function createBridge({ config, ips, survey }: WiringJob): Command[] {
  if (survey.bridge?.state !== 'absent') return []
  return [
    {
      place: 'host',
      words: [
        ...['link', 'add', 'name', config.bridge, 'address', survey.bridge.mac, 'type', 'bridge'],
        ...(config.vlan === undefined ? [] : ['vlan_filtering', '1']),
      ],
      about: `make bridge ${config.bridge}`,
      ...(config.vlan !== undefined && { needs: 'vlan-filtering' }),
      // Another ADD made it meanwhile.
      existing: 'fine',
    },
    {
      place: 'host',
      words: ['link', 'set', 'dev', config.bridge, 'alias', bridgeAlias],
      about: `mark bridge ${config.bridge} as ours`,
    },
    ...(config.isGateway && gatewayCidrs(ips).some(isIpv6)
      ? [
          {
            place: 'host',
            words: ['address', 'replace', linkLocalOf(survey.bridge.mac), 'dev', config.bridge, 'nodad'],
            about: `give bridge ${config.bridge} its link-local address`,
          } as const,
        ]
      : []),
  ]
}

/** What the kernel derives from a MAC: "fe80::c00:ff:fe00:2/64" (RFC 4291, appendix A). */
function linkLocalOf(mac: string): string {
  const bytes = mac.split(':')
  const spread = [...bytes.slice(0, 3), 'ff', 'fe', ...bytes.slice(3)]
  // The bit that tells a MAC of one's own from a manufacturer's stands the other way round.
  const identifier = BigInt(`0x${spread.join('')}`) ^ (2n << 56n)
  return `${formatAddress({ family: 6, value: (0xfe80n << 112n) | identifier })}/64`
}

/** Puts a link into a VLAN of its bridge. `how`: "pvid" and "untagged" for one that knows nothing of VLANs. */
export function vlanOfPort(link: string, vlan: number, how: readonly string[]): Command {
  return {
    place: 'host',
    tool: 'bridge',
    words: ['vlan', 'add', 'dev', link, 'vid', String(vlan), ...how],
    about: `put ${link} into VLAN ${vlan}`,
    needs: 'vlan-filtering',
  }
}

/** Into that VLAN alone: every port begins in VLAN 1. */
function onlyVlan(link: string, vlan: number | undefined, how: readonly string[]): Command[] {
  if (vlan === undefined) return []
  const leave: Command = {
    place: 'host',
    tool: 'bridge',
    words: ['vlan', 'delete', 'dev', link, 'vid', '1', ...how],
    about: `take ${link} out of VLAN 1`,
    missing: 'fine',
  }
  return [vlanOfPort(link, vlan, ['pvid', 'untagged', ...how]), ...(vlan === 1 ? [] : [leave])]
}

/** What the bridge has to be like at every ADD; says nothing new where it is so already. */
export function keepBridge({ config, ips }: WiringJob): Command[] {
  const gateways = config.isGateway ? gatewayCidrs(ips) : []
  return [
    ...gateways.map((address): Command => ({
      place: 'host',
      words: [
        ...['address', 'replace', address, 'dev', config.bridge],
        ...(isIpv6(address) ? ['nodad'] : []),
      ],
      about: `give bridge ${config.bridge} the address ${address}`,
    })),
    {
      place: 'host',
      words: ['link', 'set', 'dev', config.bridge, 'up'],
      about: `set bridge ${config.bridge} up`,
    },
    // The gateway has to be where its pods are.
    ...(config.isGateway ? onlyVlan(config.bridge, config.vlan, ['self']) : []),
  ]
}

/** Makes the host's side a port of the bridge. */
export function joinBridge({ config, survey, wiring }: WiringJob): Command[] {
  const { hostLink, alias } = survey.names
  const port = (words: readonly string[], about: string): Command => ({ place: 'host', words, about })
  return [
    // A port has no addresses of its own; the kernel would make an IPv6 one, and look for others that have it. A link with
    // an MTU below that of IPv6 has none of its settings, nor has any link of a kernel without IPv6.
    ...(wiring.mtu < leastOfIpv6
      ? []
      : [
          {
            ...port(
              ['link', 'set', 'dev', hostLink, 'addrgenmode', 'none'],
              `keep ${hostLink} without addresses`,
            ),
            unsupported: 'fine' as const,
          },
        ]),
    port(
      ['link', 'set', 'dev', hostLink, 'alias', alias, 'master', config.bridge, 'up'],
      `make ${hostLink} a port of bridge ${config.bridge}`,
    ),
    ...(config.hairpin
      ? [
          port(
            ['link', 'set', 'dev', hostLink, 'type', 'bridge_slave', 'hairpin', 'on'],
            `let ${hostLink} send back what came from it`,
          ),
        ]
      : []),
    // The pod's side is not up yet: nothing of it is seen elsewhere before.
    ...onlyVlan(hostLink, config.vlan, []),
  ]
}

/** The node may know the addresses at the MAC of whoever had them before. */
export function forgetNeighboursOf({ config, ips }: WiringJob): Command[] {
  const addresses = ips.map(({ address }) => address.slice(0, address.indexOf('/')))
  // A bridge without IPv6 knows nobody.
  return forgetNeighbourCommands(addresses, config.bridge).map(command => ({
    ...command,
    missing: 'fine',
    unsupported: 'fine',
  }))
}

/** A veth whose host side is a port of a bridge of this node. */
export function bridgeCommands(job: WiringJob): WiringCommands {
  return {
    host: [
      // First, so that nothing has been touched when the name is taken in the pod.
      createVeth(job),
      ...createBridge(job),
      ...keepBridge(job),
      ...joinBridge(job),
      ...forgetNeighboursOf(job),
    ],
    ...vethOfPod(job),
  }
}

/** The gateways of a pod's addresses with the prefix of their subnets, each once: "10.22.0.1/16". */
export function gatewayCidrs(ips: readonly ResultAddress[]): string[] {
  const all = ips.flatMap(({ address, gateway }) =>
    gateway === undefined ? [] : [`${gateway}/${address.slice(address.indexOf('/') + 1)}`],
  )
  return [...new Set(all)]
}

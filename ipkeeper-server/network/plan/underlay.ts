import { isIpv6, withoutPrefix } from '../../../shared/net/address-text.ts'
import type { ResultAddress } from '../../../shared/cni/result.ts'
import { cidrContains, formatCidr, parseCidr } from '../../../shared/net/cidr.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { forgetNeighboursOf, joinBridge, keepBridge, vlanOfPort } from './bridge.ts'
import type { Command } from './command.ts'
import { isLinkLocal, moveAddressing, type HostAddressing } from './host-addressing.ts'
import type { MainConfig } from '../../ipam/request/main-config.ts'
import type { Survey, WiringCommands, WiringJob } from './wiring-job.ts'
import { createVeth, vethOfPod } from './veth.ts'

/** A veth whose host side is a port of a bridge with an uplink, which is there already (joinUplink). */
export function underlayCommands(job: WiringJob): WiringCommands {
  return {
    host: [
      createVeth(job),
      ...keepBridge(job),
      ...joinBridge(job),
      ...vlanOfUplink(job),
      ...forgetNeighboursOf(job),
    ],
    ...vethOfPod(job),
  }
}

/** How a bridge came to have its uplink: all that taking it back needs. */
export interface UplinkJoint {
  readonly bridge: string
  readonly uplink: string
  /** Whether the bridge was made for it; one that was there stays. */
  readonly made: boolean
  /** Whether the uplink was up before. */
  readonly wasUp: boolean
  /** What moves from the uplink to the bridge. */
  readonly moved: HostAddressing
}

const host = (about: string, ...words: readonly string[]): Command => ({ place: 'host', words, about })

/**
 * Makes the bridge, its uplink a port of it, and moves what the joint says.
 *
 * @param facts.mac of a bridge that is to be made
 * @param facts.mtu bytes: that of the uplink. The kernel gives a bridge the least MTU of its ports, so that one pod
 *   could lower that of the node, unless its MTU was changed: hence it is made with another one.
 */
export function joinUplink(
  { bridge, uplink, made, moved }: UplinkJoint,
  facts: { readonly mac: string; readonly mtu: number; readonly vlan: number | undefined },
): Command[] {
  const { mac, mtu, vlan } = facts
  return [
    ...(made
      ? [
          {
            ...host(
              `make bridge ${bridge}`,
              ...['link', 'add', 'name', bridge, 'address', mac, 'mtu', String(mtu - 1), 'type', 'bridge'],
              ...(vlan === undefined ? [] : ['vlan_filtering', '1']),
            ),
            ...(vlan !== undefined && { needs: 'vlan-filtering' as const }),
          },
          host(`set the MTU of ${bridge}`, 'link', 'set', 'dev', bridge, 'mtu', String(mtu)),
        ]
      : []),
    // A bridge that is set up without a port drops what it sends until the kernel has seen that it has one.
    host(
      `make ${uplink} a port of bridge ${bridge}`,
      ...['link', 'set', 'dev', uplink, 'master', bridge, 'up'],
    ),
    host(
      `set bridge ${bridge} up`,
      ...['link', 'set', 'dev', bridge],
      // The one that moves would be asked for before it counts, if the kernel made it anew.
      ...(made && moved.addresses.some(isLinkLocal) ? ['addrgenmode', 'none'] : []),
      'up',
    ),
    ...moveAddressing(moved, uplink, bridge),
  ]
}

/**
 * Takes a joint back, as far as it was made; repeatable.
 *
 * @param isPort whether the uplink is a port of the bridge now
 */
export function partUplink({ bridge, uplink, made, wasUp, moved }: UplinkJoint, isPort: boolean): Command[] {
  // A port asks for neighbours, but its bridge gets their answers: it leaves before anything is sent by it.
  const leave = isPort
    ? [host(`take ${uplink} out of bridge ${bridge}`, 'link', 'set', 'dev', uplink, 'nomaster')]
    : []
  return [
    ...moveAddressing(moved, bridge, uplink, leave),
    ...(wasUp ? [] : [host(`set ${uplink} down`, 'link', 'set', 'dev', uplink, 'down')]),
    ...(made
      ? [
          {
            ...host(`remove bridge ${bridge}`, 'link', 'delete', 'dev', bridge, 'type', 'bridge'),
            missing: 'fine' as const,
          },
        ]
      : []),
  ]
}

/** Lets the frames of a VLAN pass the uplink, tagged; those of the node itself go on without a tag. */
function vlanOfUplink({ config: { uplink, vlan } }: WiringJob): Command[] {
  return uplink === undefined || vlan === undefined ? [] : [vlanOfPort(uplink, vlan, [])]
}

/**
 * By which address of its node a pod of an underlay reaches it, for the routes to the cluster's services: one of the
 * bridge, in the subnet of the pod, as the node would answer to another one by another way.
 *
 * @returns undefined where the pool's gateway is the node
 * @throws Problem IPK_LINK_CONFLICT when there is none
 */
export function nodeGateway(
  { bridge, isGateway, moveHostAddresses }: MainConfig,
  { nodeAddresses }: Survey,
  ips: readonly ResultAddress[],
  ipv6: boolean,
): string | undefined {
  if (isGateway) return undefined
  const subnets = ips.filter(({ address }) => isIpv6(address) === ipv6).flatMap(readSubnet)
  const found = nodeAddresses.map(withoutPrefix).find(address => {
    const parsed = parseCidr(`${address}/${ipv6 ? 128 : 32}`)
    return parsed !== undefined && subnets.some(subnet => cidrContains(subnet, parsed.address))
  })
  if (found !== undefined) return found
  const has = nodeAddresses.length === 0 ? 'no address' : `only ${nodeAddresses.join(' and ')}`
  const wanted = subnets.map(formatCidr).join(' or ')
  throw new Problem(
    'IPK_LINK_CONFLICT',
    `"serviceCidrs": pods reach services by their node, which has ${has} on bridge ${bridge}, and none of ${wanted}`,
    {
      hint:
        `ip address add ADDRESS/PREFIX dev ${bridge}, one that no pool gives; ` +
        (moveHostAddresses ? '' : 'or "moveHostAddresses": true where the uplink has one; ') +
        'or take "serviceCidrs" out',
    },
  )
}

function readSubnet({ address }: ResultAddress): readonly NonNullable<ReturnType<typeof parseCidr>>[] {
  const parsed = parseCidr(address)
  return parsed ? [parsed] : []
}

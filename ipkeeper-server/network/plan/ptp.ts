import { isIpv6, withoutPrefix } from '../../../shared/net/address-text.ts'
import { formatCidr, firstOf, parseCidr } from '../../../shared/net/cidr.ts'
import type { ResultAddress } from '../../../shared/cni/result.ts'
import type { Command } from './command.ts'
import { addressCommands, createVeth, routeCommands, upCommand } from './veth.ts'
import type { WiringCommands, WiringJob } from './wiring-job.ts'

const fullLength = (address: string): string => (isIpv6(address) ? '128' : '32')

/** "10.22.0.0/16" of "10.22.0.50/16". */
function subnetOf(cidr: string): string {
  const parsed = parseCidr(cidr)
  return parsed ? formatCidr({ address: firstOf(parsed), prefixLength: parsed.prefixLength }) : cidr
}

/**
 * What the host needs for one address: the gateway's address on its own side, unless a real router has it, and a route to
 * the pod, which replaces that of a sandbox whose address is taken over. The pod's MAC is known, so that nobody has to ask
 * for it.
 */
function hostSide({ config, survey, wiring }: WiringJob, { address, gateway }: ResultAddress): Command[] {
  const { hostLink } = survey.names
  const pod = withoutPrefix(address)
  const own = config.uplink === undefined && gateway !== undefined
  const nodad = isIpv6(pod) ? ['nodad'] : []
  return [
    ...(own
      ? [
          {
            place: 'host' as const,
            words: ['address', 'add', `${gateway}/${fullLength(gateway)}`, 'dev', hostLink, ...nodad],
            about: `give ${hostLink} the gateway's address ${gateway}`,
            existing: 'fine' as const,
          },
        ]
      : []),
    {
      place: 'host',
      words: ['route', 'replace', `${pod}/${fullLength(pod)}`, 'dev', hostLink],
      about: `route ${pod} to ${hostLink}`,
    },
    {
      place: 'host',
      words: ['neighbour', 'replace', pod, 'lladdr', wiring.mac, 'dev', hostLink, 'nud', 'permanent'],
      about: `remember the MAC of ${pod}`,
    },
    ...(config.uplink === undefined
      ? []
      : [
          {
            place: 'host' as const,
            words: ['neighbour', 'replace', 'proxy', pod, 'dev', config.uplink],
            about: `answer for ${pod} on ${config.uplink}`,
          },
        ]),
  ]
}

/**
 * What the pod needs for one address: everything but its gateway, also the rest of its subnet, is behind the gateway, and
 * the gateway is the other side of the veth, whose MAC is known: nobody has to ask for it.
 */
function podSide({ key, survey }: WiringJob, { address, gateway }: ResultAddress): Command[] {
  if (gateway === undefined) return []
  const pod = (about: string, ...words: readonly string[]): Command => ({
    place: 'pod',
    words,
    about,
    existing: 'fine',
  })
  const subnet = subnetOf(address)
  return [
    pod(
      `tell the pod the MAC of gateway ${gateway}`,
      ...['neighbour', 'replace', gateway, 'lladdr', survey.names.hostMac, 'dev', key.ifname],
      ...['nud', 'permanent'],
    ),
    pod(
      `route ${gateway} to ${key.ifname}`,
      ...['route', 'add', `${gateway}/${fullLength(gateway)}`, 'dev', key.ifname],
    ),
    pod(
      `route ${subnet} through ${gateway}`,
      ...['route', 'add', subnet, 'via', gateway, 'dev', key.ifname, 'src', withoutPrefix(address)],
    ),
  ]
}

/** A routed veth: no bridge, one route of the host for each address. */
export function ptpCommands(job: WiringJob): WiringCommands {
  const { hostLink, alias } = job.survey.names
  return {
    host: [
      createVeth(job),
      {
        place: 'host',
        words: ['link', 'set', 'dev', hostLink, 'alias', alias, 'up'],
        about: `set ${hostLink} up`,
      },
      ...job.ips.flatMap(ip => hostSide(job, ip)),
    ],
    link: [upCommand(job)],
    // The kernel's own route of the subnet would look for the others on this link.
    addresses: addressCommands(job, ['noprefixroute']),
    routes: [...job.ips.flatMap(ip => podSide(job, ip)), ...routeCommands(job)],
  }
}

import { gatewayCidrs } from './gateway-address.ts'
import type { Command } from './command.ts'
import type { WiringJob } from './wiring-job.ts'
import { addressCommands, createVeth, cutSuperseded, routeCommands, upCommand } from './veth.ts'

/**
 * Makes the bridge. Its MAC is set, so that it does not change with its ports: a bridge without one takes the lowest of
 * theirs, and pods would look for their gateway under an old one.
 */
export function createBridge({ config, survey }: WiringJob): Command[] {
  if (survey.bridge?.state !== 'absent') return []
  return [
    {
      place: 'host',
      words: [
        ...['link', 'add', 'name', config.bridge, 'address', survey.bridge.mac, 'type', 'bridge'],
        ...(config.vlan === undefined ? [] : ['vlan_filtering', '1']),
      ],
      about: `make bridge ${config.bridge}`,
      // Another ADD made it meanwhile.
      existing: 'fine',
    },
  ]
}

/** What the bridge has to be like at every ADD; says nothing new where it is so already. */
export function keepBridge({ config, ips }: WiringJob): Command[] {
  const gateways = config.isGateway ? gatewayCidrs(ips) : []
  return [
    ...gateways.map((address): Command => ({
      place: 'host',
      words: [
        ...['address', 'replace', address, 'dev', config.bridge],
        ...(address.includes(':') ? ['nodad'] : []),
      ],
      about: `give bridge ${config.bridge} the address ${address}`,
    })),
    {
      place: 'host',
      words: ['link', 'set', 'dev', config.bridge, 'up'],
      about: `set bridge ${config.bridge} up`,
    },
  ]
}

/** Makes the host's side a port of the bridge. */
export function joinBridge({ config, survey }: WiringJob): Command[] {
  const { hostLink, alias } = survey.names
  const port = (words: readonly string[], about: string): Command => ({ place: 'host', words, about })
  return [
    port(
      [
        ...['link', 'set', 'dev', hostLink, 'alias', alias, 'master', config.bridge],
        // A port has no addresses of its own; the kernel would make an IPv6 one, and look for others that have it.
        ...['addrgenmode', 'none', 'up'],
      ],
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
  ]
}

/** A veth whose host side is a port of a bridge of this node. */
export function bridgeCommands(job: WiringJob): Command[] {
  return [
    // First, so that nothing has been touched when the name is taken in the pod.
    createVeth(job),
    ...createBridge(job),
    ...keepBridge(job),
    ...cutSuperseded(job),
    ...joinBridge(job),
    ...addressCommands(job),
    upCommand(job),
    ...routeCommands(job),
  ]
}

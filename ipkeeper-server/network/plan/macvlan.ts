import type { Command } from './command.ts'
import { namespacePath } from './namespace-path.ts'
import { addressCommands, cutSuperseded, routeCommands, upCommand } from './veth.ts'
import type { WiringJob } from './wiring-job.ts'

/**
 * A link of its own on the uplink, made within the pod's namespace: what looks after the links of the host never sees it,
 * and all of it is there or nothing.
 */
export function macvlanCommands(job: WiringJob): Command[] {
  const { config, key, survey, wiring } = job
  const uplink = wiring.master ?? ''
  return [
    {
      place: 'host',
      words: [
        ...['link', 'add', 'link', uplink, 'name', key.ifname, 'netns', namespacePath],
        ...['address', wiring.mac, 'mtu', String(wiring.mtu)],
        ...['type', 'macvlan', 'mode', config.macvlanMode],
      ],
      about: `make ${key.ifname} of the pod on ${uplink}`,
    },
    ...cutSuperseded(job),
    // By it a DEL knows the link for ours. Before it is up: one that is up without it is somebody else's.
    {
      place: 'pod',
      words: ['link', 'set', 'dev', key.ifname, 'alias', survey.names.alias],
      about: `mark ${key.ifname} as ours`,
    },
    ...addressCommands(job),
    // The kernel refuses it while another link of the uplink has the MAC.
    { ...upCommand(job), about: `set ${key.ifname} up with MAC ${wiring.mac} on ${uplink}` },
    ...routeCommands(job),
  ]
}

/** A macvlan of a pod, as far as it tells whose it is. */
export interface PodLink {
  readonly name: string
  readonly mac: string
  readonly alias: string
  readonly up: boolean
  readonly addresses: readonly unknown[]
}

/**
 * The link of an attachment among the macvlans of its namespace: by its alias; or, where the ADD was broken off before it
 * had one, the link of our name and MAC that nobody has put into use.
 *
 * @param wired undefined where no record tells what was made
 */
export function ownMacvlan(
  links: readonly PodLink[],
  alias: string,
  wired: { readonly ifname: string; readonly mac: string } | undefined,
): PodLink | undefined {
  const marked = links.find(link => link.alias === alias)
  if (marked || !wired) return marked
  return links.find(
    ({ name, mac, alias: other, up, addresses }) =>
      other === '' && !up && addresses.length === 0 && name === wired.ifname && mac === wired.mac,
  )
}

import { namespacePath } from './namespace-path.ts'
import { firstMac, upCommand, vethOfPod } from './veth.ts'
import type { WiringCommands } from './wiring-commands.ts'
import type { WiringJob } from './wiring-job.ts'

/**
 * A link of its own on the uplink, made within the pod's namespace: what looks after the links of the host never sees it,
 * and all of it is there or nothing.
 */
export function macvlanCommands(job: WiringJob): WiringCommands {
  const { config, key, survey, wiring } = job
  const uplink = wiring.master ?? ''
  const mac = firstMac(config, survey, wiring)
  return {
    host: [
      {
        place: 'host',
        words: [
          ...['link', 'add', 'link', uplink, 'name', key.ifname, 'netns', namespacePath],
          ...['address', mac, 'mtu', String(wiring.mtu)],
          ...['type', 'macvlan', 'mode', config.macvlanMode],
        ],
        about: `make ${key.ifname} of the pod on ${uplink}`,
      },
    ],
    ...vethOfPod(job),
    link: [
      // By it a DEL knows the link for ours. Before it is up: one that is up without it is somebody else's.
      {
        place: 'pod',
        words: ['link', 'set', 'dev', key.ifname, 'alias', survey.names.alias],
        about: `mark ${key.ifname} as ours`,
      },
      // The kernel refuses it while another link of the uplink has the MAC.
      { ...upCommand(job), about: `set ${key.ifname} up with MAC ${mac} on ${uplink}` },
    ],
  }
}

/** A macvlan of a pod, as far as it tells whose it is. */
export interface PodLink {
  readonly index: number
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
  wired: { readonly ifname: string; readonly macs: readonly string[] } | undefined,
): PodLink | undefined {
  const marked = links.find(link => link.alias === alias)
  if (marked || !wired) return marked
  return links.find(
    ({ name, mac, alias: other, up, addresses }) =>
      other === '' && !up && addresses.length === 0 && name === wired.ifname && wired.macs.includes(mac),
  )
}

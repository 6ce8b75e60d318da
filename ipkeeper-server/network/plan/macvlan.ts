import { inheritedNamespace } from './command.ts'
import { firstMac, upCommand, vethOfPod } from './veth.ts'
import type { LinkNames, WiringCommands, WiringJob } from './wiring-job.ts'

/**
 * A link of its own on the uplink. The kernel makes it within the pod's namespace at once, so what looks after the links of
 * the host never sees it, and all of it is there or nothing. But up to 6.14 it first looks for the name among the links of
 * the host (linux:net/core/rtnetlink.c), so the link gets a name that nothing else has there, and its own within the pod.
 */
export function macvlanCommands(job: WiringJob): WiringCommands {
  const { config, key, survey, wiring } = job
  const { alias, hostLink: firstName } = survey.names
  const uplink = wiring.master ?? ''
  const mac = firstMac(config, survey, wiring)
  return {
    host: [
      {
        place: 'host',
        words: [
          ...['link', 'add', 'link', uplink, 'name', firstName, 'netns', inheritedNamespace],
          ...['address', mac, 'mtu', String(wiring.mtu)],
          ...['type', 'macvlan', 'mode', config.macvlanMode],
        ],
        about: `make ${key.ifname} of the pod on ${uplink}`,
      },
      // By it a DEL knows the link for ours. Before it is up: one that is up without it is somebody else's.
      {
        place: 'pod',
        words: ['link', 'set', 'dev', firstName, 'alias', alias],
        about: `mark ${key.ifname} as ours`,
      },
      {
        place: 'pod',
        words: ['link', 'set', 'dev', firstName, 'name', key.ifname],
        about: `give ${key.ifname} its name`,
      },
    ],
    ...vethOfPod(job),
    // The kernel refuses it while another link of the uplink has the MAC.
    link: [{ ...upCommand(job), about: `set ${key.ifname} up with MAC ${mac} on ${uplink}` }],
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
 * had one, by the name that it was made with, while nobody has put it into use.
 */
export function ownMacvlan(
  links: readonly PodLink[],
  { alias, hostLink }: Pick<LinkNames, 'alias' | 'hostLink'>,
): PodLink | undefined {
  return (
    links.find(link => link.alias === alias) ??
    links.find(
      ({ name, alias: other, up, addresses }) =>
        name === hostLink && other === '' && !up && addresses.length === 0,
    )
  )
}

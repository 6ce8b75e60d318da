import { isIpv6 } from '../../../shared/net/address-text.ts'
import { inheritedNamespace, type Command } from './command.ts'
import type { WiringRecord } from '../../ipam/records/records.ts'
import { asksFirst, type MainConfig } from '../../ipam/request/main-config.ts'
import { routeCommand } from './pod-routes.ts'
import type { Survey, WiringCommands, WiringJob } from './wiring-job.ts'

/** What the modes with a veth have in common. */

/**
 * The MAC with which a link is made. One that first asks whether others have its address gets its own afterwards: who has
 * the address may have the same MAC, and would not be heard (probe-address.ts).
 */
export function firstMac(config: MainConfig, survey: Survey, { mac }: Pick<WiringRecord, 'mac'>): string {
  return asksFirst(config, survey) ? survey.names.probeMac : mac
}

/** Both sides in one step, the pod's side within its namespace: either all of it is there or nothing. */
export function createVeth({ config, key, survey, wiring }: WiringJob): Command {
  const { hostLink, hostMac } = survey.names
  const mtu = ['mtu', String(wiring.mtu)]
  return {
    place: 'host',
    words: [
      ...['link', 'add', 'name', hostLink, 'address', hostMac, ...mtu, 'type', 'veth'],
      ...[
        'peer',
        'name',
        key.ifname,
        'address',
        firstMac(config, survey, wiring),
        ...mtu,
        'netns',
        inheritedNamespace,
      ],
    ],
    about: `make ${key.ifname} of the pod and ${hostLink} of the host`,
  }
}

/** Gives the pod's interface its addresses. `words`: flags besides "nodad" of IPv6. */
export function addressCommands({ key, ips }: WiringJob, words: readonly string[] = []): Command[] {
  return ips.map(({ address }) => ({
    place: 'pod',
    words: [
      ...['address', 'add', address, 'dev', key.ifname],
      ...(isIpv6(address) ? ['nodad'] : []),
      ...words,
    ],
    about: `give ${key.ifname} the address ${address}`,
  }))
}

export function upCommand({ key }: WiringJob): Command {
  return { place: 'pod', words: ['link', 'set', 'dev', key.ifname, 'up'], about: `set ${key.ifname} up` }
}

export function routeCommands({ key, wiring }: WiringJob): Command[] {
  return wiring.routes.map(route => routeCommand(route, key.ifname))
}

/** The pod's part of a link that is ready when it is up. */
export function vethOfPod(job: WiringJob): Omit<WiringCommands, 'host'> {
  return { link: [upCommand(job)], addresses: addressCommands(job), routes: routeCommands(job) }
}

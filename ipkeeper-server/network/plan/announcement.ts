import { parseAddress, type Family } from '../../../shared/net/address.ts'
import { parseMac } from '../../../shared/net/mac.ts'
import type { Command } from './command.ts'
import type { Sysctl } from '../../ipam/request/main-config.ts'

/** What the kernel needs to be told before `announcementCommand` makes it speak; with effect on this link alone. */
export function announcementSysctls(ifname: string, addresses: readonly string[]): Sysctl[] {
  const names: Readonly<Record<Family, string>> = { 4: 'ipv4/conf', 6: 'ipv6/conf' }
  const settings: Readonly<Record<Family, string>> = { 4: 'arp_notify', 6: 'ndisc_notify' }
  const families = new Set(addresses.map(text => parseAddress(text)?.family))
  return ([4, 6] as const)
    .filter(family => families.has(family))
    .map(family => ({ key: `net/${names[family]}/${ifname}/${settings[family]}`, value: '1' }))
}

/**
 * Has the kernel send a gratuitous ARP request for each IPv4 address of a link, and an unsolicited neighbour advertisement
 * for each IPv6 address that is not tentative: it does so whenever the MAC is set, also to what it is (inetdev_event and
 * ndisc_netdev_event of Linux; Documentation/networking/ip-sysctl, arp_notify and ndisc_notify). It also empties the link's
 * own neighbour cache, so it is for a link that has just come up.
 */
export function announcementCommand(ifname: string, mac: string): Command {
  const address = parseMac(mac)
  if (address === undefined) throw new Error(`${JSON.stringify(mac)} cannot be the MAC of a link`)
  return {
    place: 'pod',
    words: ['link', 'set', 'dev', ifname, 'address', address],
    about: `announce the addresses of ${ifname}`,
  }
}

/** Any unicast MAC: the entry is deleted in the next line. */
const placeholderMac = '02:00:00:00:00:00'

/**
 * Makes the node forget what MAC it last saw these addresses at, on a link of its own such as the bridge. Neither line can
 * fail for an entry that is missing, as a delete alone would, nor makes the kernel dump its table, as a flush would.
 *
 * @param addresses without prefix
 */
export function forgetNeighbourCommands(addresses: readonly string[], link: string): Command[] {
  return addresses.flatMap(address => {
    const about = `forget the former MAC of ${address} on ${link}`
    return [
      {
        place: 'host' as const,
        words: ['neighbour', 'replace', address, 'lladdr', placeholderMac, 'dev', link, 'nud', 'stale'],
        about,
      },
      { place: 'host' as const, words: ['neighbour', 'delete', address, 'dev', link], about },
    ]
  })
}

import { isIpv6, withoutPrefix } from '../../shared/net/address-text.ts'
import { defaultUplinks, findLink } from './host-links.ts'
import type { RunTool } from './run-tool.ts'

/**
 * The addresses by which other nodes reach this one, as far as its links tell: those of the links that default routes lead
 * to, without those of scope link. One of each link and family: the first, which is the one that the kernel sends from.
 */
export async function findNodeAddresses(run: RunTool): Promise<readonly string[]> {
  const names = new Set(await defaultUplinks(run))
  const links = await Promise.all([...names].map(name => findLink(run, name)))
  return links.flatMap(link => {
    const own = (link?.addresses ?? [])
      .filter(({ scope }) => scope === 'global')
      .map(({ address }) => address)
    const first = [own.find(cidr => !isIpv6(cidr)), own.find(isIpv6)]
    return first.flatMap(cidr => (cidr === undefined ? [] : [withoutPrefix(cidr)]))
  })
}

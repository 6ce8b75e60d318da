import { isHostLinkName } from '../network/plan/interface-name.ts'

/** A veth of the host, as far as it tells whether somebody has it. */
export interface VethSeen {
  /** No other link of the host will have it. */
  readonly index: number
  readonly name: string
  readonly alias: string
  /** Whether it is up and so is its other side, which is so in each pod that was wired to its end. */
  readonly carrier: boolean
}

/** Whether ipkeeper made a link, by its name and alias as network/link-names.ts makes them. */
export function isOwnLink({ name, alias }: Pick<VethSeen, 'name' | 'alias'>): boolean {
  return isHostLinkName(name) && ownAlias.test(alias)
}

const ownAlias = /^(ipkeeper |$)/

/** Whose link it is, as its alias says; a long network or container ID is cut there. undefined: not one of ours, or it does not say. */
export function linkOwner(
  link: Pick<VethSeen, 'name' | 'alias'>,
): { readonly network: string; readonly containerId: string; readonly ifname: string } | undefined {
  const [, network = '', containerId = '', ifname = ''] =
    /^ipkeeper (\S+) (\S+) (\S+)$/.exec(link.alias) ?? []
  return isOwnLink(link) && ifname !== '' ? { network, containerId, ifname } : undefined
}

/**
 * The links that a program made whose daemon had ended before. The daemon that came after it undid the ADD, and found no
 * link yet. Such a program made the link and no more: one with a carrier is a pod's that works, even if its record was
 * lost, or a daemon with another state folder has it.
 *
 * @param named links that records name
 */
export function strayLinks<Link extends VethSeen>(
  links: readonly Link[],
  named: ReadonlySet<string>,
): readonly Link[] {
  return links.filter(link => !link.carrier && isOwnLink(link) && !named.has(link.name))
}

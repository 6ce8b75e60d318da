import { matchesPattern } from '../../shared/text/matches-pattern.ts'
import { shellLine } from '../../shared/text/shell-word.ts'
import type { NodeSnapshot, SeenVeth } from './plan-snapshot.ts'
import type { Suspicion } from './plan-suspicion.ts'
import { isHostLinkName } from '../network/plan/interface-name.ts'

/**
 * Links of the host that nobody has. Of ours: those that no attachment names; they go when their other side is down. Of others: those whose other side is down, as
 * no pod leaves it; they are touched only where the administrator named them (`patterns`, in which "*" stands for any
 * characters).
 */
export function suspectLinks(
  { links, namedLinks, runtimes }: NodeSnapshot,
  patterns: readonly string[],
): readonly Suspicion[] {
  if (links.state !== 'asked') return []
  const ready = new Set(
    runtimes.flatMap(answer =>
      answer.state === 'listed' ? answer.sandboxes.flatMap(({ id, ready }) => (ready ? [id] : [])) : [],
    ),
  )
  return links.found.flatMap(link => {
    if (namedLinks.has(link.name)) return []
    if (isOwnLink(link)) return [suspectOwn(link, ready)]
    return link.carrier ? [] : [suspectForeign(link, patterns)]
  })
}

/** The container ID in the alias that ADD gives; undefined where another one stands there. */
const containerOf = (link: SeenVeth): string | undefined => linkOwner(link)?.containerId

function suspectOwn(link: SeenVeth, ready: ReadonlySet<string>): Suspicion {
  const containerId = containerOf(link)
  const base = {
    kind: 'link-without-lease',
    key: `link ${link.index} ${link.name}`,
    says: `host link ${link.name}${containerId === undefined ? '' : ` of container ${containerId.slice(0, 13)}`} belongs to no attachment`,
    about: { link: link.name, ...(containerId !== undefined && { containerId }) },
  } as const
  const lives = containerId !== undefined && [...ready].some(id => id.startsWith(containerId))
  if (lives) {
    return {
      ...base,
      why: 'the runtime says that this container runs: its record was lost, or another daemon has it',
      remedy: `recreate the pod: crictl stopp ${containerId}`,
      action: { kind: 'none' },
      certainty: { by: 'proof' },
    }
  }
  if (link.carrier) {
    // Of a container that no runtime lists, such as podman's; or all records were lost while the runtime is down.
    return {
      ...base,
      why: 'its peer is up, so a container may be using it: its record was lost, or another daemon has it',
      remedy: `if it is not in use: ${shellLine(['ip', 'link', 'delete', link.name])}`,
      action: { kind: 'none' },
      certainty: { by: 'absence' },
    }
  }
  return {
    ...base,
    why: 'its peer is down',
    remedy: '',
    action: { kind: 'remove-link', link },
    certainty: { by: 'proof' },
  }
}

function suspectForeign(link: SeenVeth, patterns: readonly string[]): Suspicion {
  const named = patterns.some(pattern => matchesPattern(pattern, link.name))
  return {
    kind: 'foreign-link',
    key: `link ${link.index} ${link.name}`,
    says: `veth ${link.name} of another program has a peer that is down`,
    why: named ? 'its name matches reconcile.links' : 'ipkeeper did not make it, and leaves it alone',
    remedy: named
      ? ''
      : `if it is not needed: ${shellLine(['ip', 'link', 'delete', link.name])} (or name it in reconcile.links)`,
    about: { link: link.name },
    action: named ? { kind: 'remove-link', link } : { kind: 'none' },
    certainty: { by: 'absence' },
  }
}

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
function isOwnLink({ name, alias }: Pick<VethSeen, 'name' | 'alias'>): boolean {
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

import { listLinks, type LinkState } from '../ip-show.ts'
import { runCommands } from '../ip-commands.ts'
import { linkWord } from '../plan/command.ts'
import { ownMacvlan } from '../plan/macvlan.ts'
import type { LinkNames } from '../plan/wiring-job.ts'
import { type PodNamespace, reopenPodNamespace } from './namespace.ts'
import type { RunTool } from '../run-tool.ts'
import type { AttachmentRecord } from '../../ipam/records/records.ts'

/**
 * Takes the macvlan of an attachment out of its pod, and nobody else's; closes the namespace. A look comes first, as the
 * interface may be another plugin's by now. Who may change links in the pod cannot make it fail: what is told of its links
 * and cannot be understood is not ours.
 *
 * @param namespace undefined when it is gone, and the link with it
 */
export async function removeMacvlan(
  run: RunTool,
  namespace: PodNamespace | undefined,
  names: Pick<LinkNames, 'alias' | 'hostLink'>,
): Promise<void> {
  if (!namespace) return
  try {
    const links = await understoodLinks(run, namespace.fd)
    const own = ownMacvlan(links, names)
    if (!own) return
    const removal = {
      place: 'pod',
      words: ['link', 'delete', 'dev', linkWord(own)],
      about: `remove macvlan ${own.index} of the pod`,
      missing: 'fine',
    } as const
    await runCommands(run, [removal], namespace.fd)
  } finally {
    namespace.close()
  }
}

async function understoodLinks(run: RunTool, fd: number): Promise<readonly LinkState[]> {
  try {
    return await listLinks(run, ['type', 'macvlan'], fd)
  } catch (error) {
    // Such as a list that was cut off, since it is too long.
    if (error instanceof SyntaxError) return []
    throw error
  }
}

/**
 * The addresses that an attachment's interface has in its namespace, in CIDR notation, link-local ones left out; none where
 * there is no such interface. undefined where the namespace at ADD is not known, or is gone.
 *
 * @throws IPK_WIRING_FAILED, IPK_TOOL_MISSING
 */
export async function podAddresses(
  run: RunTool,
  { netns, netnsInode, ifname }: AttachmentRecord,
): Promise<readonly string[] | undefined> {
  if (netnsInode === null) return undefined
  const namespace = await reopenPodNamespace(netns, netnsInode)
  if (!namespace) return undefined
  try {
    const links = await listLinks(run, [], namespace.fd)
    const link = links.find(({ name }) => name === ifname)
    return link?.addresses.filter(({ scope }) => scope !== 'link').map(({ address }) => address) ?? []
  } finally {
    namespace.close()
  }
}

/**
 * Has the pods on a bridge forget whose MAC the addresses had, so that they ask anew. A pod whose namespace is gone meanwhile
 * is passed over.
 */
export async function forgetNeighbours(
  run: RunTool,
  pods: Iterable<AttachmentRecord>,
  bridge: string,
  addresses: readonly string[],
): Promise<void> {
  for (const { wiring, ifname, netns, netnsInode } of pods) {
    if (wiring?.master !== bridge) continue
    const namespace = await reopenPodNamespace(netns, netnsInode)
    if (!namespace) continue
    try {
      await runCommands(
        run,
        addresses.map(address => ({
          place: 'pod' as const,
          words: ['neighbour', 'delete', address, 'dev', ifname],
          about: `forget the MAC of ${address}`,
          missing: 'fine' as const,
        })),
        namespace.fd,
      )
    } finally {
      namespace.close()
    }
  }
}

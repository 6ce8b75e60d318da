import type { AttachmentRecord } from '../ipam/records/records.ts'
import { listLinks } from './host-links.ts'
import { reopenPodNamespace } from './pod-namespace.ts'
import type { RunTool } from './run-tool.ts'

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

import type { AttachmentRecord } from '../ipam/records/records.ts'
import { runCommands } from './ip-commands.ts'
import { reopenPodNamespace } from './pod-namespace.ts'
import type { RunTool } from './run-tool.ts'

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

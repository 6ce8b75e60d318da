import type { AttachmentsReply, StatusReply } from '../../../shared/api/listing.schema.ts'
import { connectDaemon } from '../framework/daemon-client.ts'

/** How many sandboxes of its node a daemon has attachments for. Throws IPK_DAEMON_UNREACHABLE. */
export async function countAttachments(socket: string): Promise<number> {
  const daemon = connectDaemon(socket)
  try {
    const { attachments } = (await daemon.ask('GET', '/v1/attachments')) as AttachmentsReply
    const { node } = (await daemon.ask('GET', '/v1/status')) as StatusReply
    // Nodes that share a ledger know of each other's.
    return attachments.filter(attachment => attachment.node === node).length
  } finally {
    await daemon.close()
  }
}

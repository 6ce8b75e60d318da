import { dirname } from 'node:path'
import type { AttachmentsReply, StatusReply } from '../../../shared/api/listing.schema.ts'
import { defaultPaths } from '../../../shared/paths.ts'
import { choosePlugin } from '../../install/choose-plugin.ts'
import { install, type Installation } from '../../install/install.ts'
import { uninstall } from '../../install/uninstall.ts'
import type { ReadCall } from '../framework/command.ts'
import { connectDaemon } from '../framework/daemon-client.ts'
import type { Terminal } from '../framework/terminal.ts'
import { standardConflist } from '../ipkeeper-server.ts'

/**
 * What a call wants installed.
 *
 * @param folder of ipkeeper-server: the plugins come beside it
 */
export const readWanted = ({ options }: ReadCall, folder: string): Installation => ({
  ...choosePlugin(options['plugin'] ?? 'auto', options['host-root'], folder),
  binDir: options['bin-dir'] ?? defaultPaths.binDir,
  confDir: options['conf-dir'] ?? defaultPaths.confDir,
  conflist: options['conflist'],
})

/** @param executable of ipkeeper-server */
export async function installCommand(call: ReadCall, { out }: Terminal, executable: string): Promise<0> {
  out(await install(readWanted(call, dirname(executable))))
  return 0
}

export async function uninstallCommand({ options, flags }: ReadCall, { env, out }: Terminal): Promise<0> {
  const socket = options['socket'] ?? (env['IPKEEPER_SOCKET'] || defaultPaths.socket)
  const done = await uninstall({
    binDir: options['bin-dir'] ?? defaultPaths.binDir,
    confDir: options['conf-dir'] ?? defaultPaths.confDir,
    conflist: options['conflist'] ?? standardConflist,
    attachments: () => countAttachments(socket),
    force: flags.has('force'),
  })
  out(done)
  return 0
}

/** How many sandboxes of its node a daemon has attachments for. Throws IPK_DAEMON_UNREACHABLE. */
async function countAttachments(socket: string): Promise<number> {
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

import { readFileSync, readlinkSync } from 'node:fs'
import type { StatusReply } from '../../../shared/api/listing.schema.ts'
import { noDaemon, skip, type CheckOutcome } from './check.ts'
import type { NodeView } from './node-view.ts'

/**
 * Folder of the daemon in /proc; undefined when the process of that number is another one, as it is for a daemon with
 * process IDs of its own.
 */
function daemonProcess({ pid }: StatusReply): string | undefined {
  const folder = `/proc/${pid}`
  try {
    return readFileSync(`${folder}/cmdline`, 'utf8').includes('ipkeeper-server') ? folder : undefined
  } catch {
    return undefined
  }
}

/** The outcome of a look at the daemon's folder in /proc, where there is one to be seen. */
export async function lookAtDaemonProcess(
  node: NodeView,
  look: (folder: string) => CheckOutcome,
): Promise<CheckOutcome> {
  const status = await node.status()
  if (!status) return noDaemon
  const folder = daemonProcess(status)
  return folder === undefined
    ? skip(`process ${status.pid} here is not the daemon, which has process IDs of its own`)
    : look(folder)
}

/** Whether a process has the same mounts as this one. */
export function sharesMounts(folder: string): boolean {
  return readlinkSync(`${folder}/ns/mnt`) === readlinkSync('/proc/self/ns/mnt')
}

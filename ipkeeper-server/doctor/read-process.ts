import { readFileSync, readlinkSync } from 'node:fs'
import type { StatusReply } from '../../shared/api/listing.schema.ts'

/**
 * Folder of the daemon in /proc; undefined when the process of that number is another one, as it is for a daemon with
 * process IDs of its own.
 */
export function daemonProcess({ pid }: StatusReply): string | undefined {
  const folder = `/proc/${pid}`
  try {
    return readFileSync(`${folder}/cmdline`, 'utf8').includes('ipkeeper-server') ? folder : undefined
  } catch {
    return undefined
  }
}

/** Whether a process has the same mounts as this one. */
export function sharesMounts(folder: string): boolean {
  return readlinkSync(`${folder}/ns/mnt`) === readlinkSync('/proc/self/ns/mnt')
}

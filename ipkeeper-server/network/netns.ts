import { readFileSync, statfsSync, statSync } from 'node:fs'
import type { NetnsState } from '../ipam/netns-state.ts'

/** Magic number of nsfs: what statfs says of a network namespace (linux/magic.h, NSFS_MAGIC). */
const nsfsMagic = 0x6e736673

/** Looks at a path without entering it. Absent only when the file system says so; any other error is no proof. */
export function inspectNetns(path: string): NetnsState {
  if (!path.startsWith('/')) return { kind: 'unreadable', reason: 'not an absolute path' }
  try {
    if (statfsSync(path).type !== nsfsMagic) return { kind: 'not-a-namespace' }
    return { kind: 'namespace', inode: statSync(path, { bigint: true }).ino.toString() }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' }
    return { kind: 'unreadable', reason: String(code ?? error) }
  }
}

/** Identity of this boot of the kernel; every attachment of another boot is dead. */
export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

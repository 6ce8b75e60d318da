import { readFileSync, statfsSync, statSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { boundedLooks } from '../host/bounded-looks.ts'
import type { NetnsState } from '../ipam/records/standing.ts'

/** Magic number of nsfs: what statfs says of a network namespace (linux/magic.h, NSFS_MAGIC). */
const nsfsMagic = 0x6e736673

/** Where runtimes have namespaces: file systems of the kernel, which do not hang. */
const kernelsOwn = /^(?:(?:\/var)?\/run\/(?:docker\/)?netns\/[^/]+|\/proc\/\d+\/(?:task\/\d+\/)?ns\/net)$/

/**
 * Resolves when the path can be looked at at once, as the rest of the daemon does, or not at all. To be awaited with each
 * path of a request, which may be on a file system that hangs.
 *
 * @throws Problem IPK_FILE_HANGS
 */
export async function reachNetns(path: string): Promise<void> {
  if (!path.startsWith('/') || kernelsOwn.test(path)) return
  // What else is wrong with it is seen when it is looked at.
  await boundedLooks.run('netns', path, async () => {
    await stat(path).catch(() => undefined)
  })
}

/** Looks at a path without entering it. Absent only when the file system says so; any other error is no proof. */
export function inspectNetns(path: string): NetnsState {
  if (!path.startsWith('/')) return { kind: 'unreadable', reason: 'not an absolute path' }
  if (boundedLooks.isHanging(path)) return { kind: 'unreadable', reason: 'its file system hangs' }
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

import { statfsSync, statSync, closeSync, fstatSync, openSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { boundedLooks } from '../../host/bounded-looks.ts'
import type { NetnsState } from '../../ipam/records/standing.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { systemCode } from '../../../shared/system-code.ts'

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
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent' }
    return { kind: 'unreadable', reason: code }
  }
}

/** A pod's network namespace that is held open, so that nothing else can come to stand for it meanwhile. */
export interface PodNamespace {
  /** To be handed to programs; valid until `close`. */
  readonly fd: number
  /** Which one it is, to be compared with what a record says. */
  readonly inode: string
  readonly close: () => void
}

const inodeOf = (fd: number): string => fstatSync(fd, { bigint: true }).ino.toString()

/** Inode of the namespace that this process runs in. */
export function ownNamespaceInode(): string {
  return statSync('/proc/self/ns/net', { bigint: true }).ino.toString()
}

/**
 * Opens the namespace of a pod that is to be wired.
 *
 * @throws IPK_NETNS_INVALID when there is none, IPK_NETNS_IS_HOST when it is ours, IPK_FILE_HANGS
 */
export async function openPodNamespace(path: string): Promise<PodNamespace> {
  await reachNetns(path)
  const looked = inspectNetns(path)
  const opened = looked.kind === 'namespace' ? open(path) : looked
  if (opened.kind !== 'open') throw new Problem('IPK_NETNS_INVALID', `CNI_NETNS ${path} ${whatIs(opened)}`)
  const { namespace } = opened
  if (namespace.inode !== ownNamespaceInode()) return namespace
  namespace.close()
  throw new Problem('IPK_NETNS_IS_HOST', "plugin's netns and netns from CNI_NETNS should not be the same")
}

/**
 * The namespace of an attachment, if it is still the one that was there at ADD, and not ours. undefined: it is gone, and
 * what was in it too. A path that cannot be looked at proves nothing, unless it is none at all.
 *
 * @param inode undefined where nobody remembers which one it was
 * @throws IPK_WIRING_FAILED, IPK_FILE_HANGS when nobody can say whether it is there
 */
export async function reopenPodNamespace(
  path: string,
  inode?: string | null,
): Promise<PodNamespace | undefined> {
  if (!path.startsWith('/')) return undefined
  await reachNetns(path)
  const looked = inspectNetns(path)
  if (looked.kind === 'namespace' && inode !== undefined && looked.inode !== inode) return undefined
  const opened = looked.kind === 'namespace' ? open(path) : looked
  if (opened.kind === 'unreadable')
    throw new Problem('IPK_WIRING_FAILED', `network namespace ${path} ${whatIs(opened)}`, {
      hint: 'see who may read that path: namei -l PATH',
    })
  if (opened.kind !== 'open') return undefined
  const { namespace } = opened
  if (namespace.inode === (inode ?? namespace.inode) && namespace.inode !== ownNamespaceInode())
    return namespace
  namespace.close()
  return undefined
}

type NoNamespace = Exclude<NetnsState, { readonly kind: 'namespace' }>

function whatIs(state: NoNamespace): string {
  switch (state.kind) {
    case 'absent':
      return 'does not exist'
    case 'not-a-namespace':
      return 'is no network namespace'
    case 'unreadable':
      return `cannot be read (${state.reason})`
  }
}

/** It may have gone since it was looked at. */
function open(path: string): { readonly kind: 'open'; readonly namespace: PodNamespace } | NoNamespace {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    const code = systemCode(error)
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'absent' } : { kind: 'unreadable', reason: code }
  }
  const close = (): void => {
    closeSync(fd)
  }
  return { kind: 'open', namespace: { fd, inode: inodeOf(fd), close } }
}

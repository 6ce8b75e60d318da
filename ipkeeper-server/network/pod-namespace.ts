import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import { Problem } from '../../shared/problem/problem.ts'
import { inspectNetns } from './netns.ts'

/** A pod's network namespace that is held open, so that nothing else can come to stand for it meanwhile. */
export interface PodNamespace {
  /** To be handed to programs; valid until `close`. */
  readonly fd: number
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
 * @throws IPK_NETNS_INVALID when there is none, IPK_NETNS_IS_HOST when it is ours
 */
export function openPodNamespace(path: string): PodNamespace {
  const state = inspectNetns(path)
  if (state.kind !== 'namespace') {
    const what = {
      absent: 'does not exist',
      'not-a-namespace': 'is no network namespace',
      unreadable: `cannot be read (${state.kind === 'unreadable' ? state.reason : ''})`,
    }[state.kind]
    throw new Problem('IPK_NETNS_INVALID', `CNI_NETNS ${path} ${what}`)
  }
  const namespace = open(path)
  if (inodeOf(namespace.fd) !== ownNamespaceInode()) return namespace
  namespace.close()
  throw new Problem('IPK_NETNS_IS_HOST', "plugin's netns and netns from CNI_NETNS should not be the same")
}

/**
 * The namespace of an attachment, if it is still the one that was there at ADD, and not ours.
 *
 * @param inode undefined where nobody remembers which one it was
 */
export function reopenPodNamespace(path: string, inode?: string | null): PodNamespace | undefined {
  const state = inspectNetns(path)
  if (state.kind !== 'namespace' || (inode !== undefined && state.inode !== inode)) return undefined
  const namespace = open(path)
  const present = inodeOf(namespace.fd)
  if (present === state.inode && present !== ownNamespaceInode()) return namespace
  namespace.close()
  return undefined
}

function open(path: string): PodNamespace {
  const fd = openSync(path, 'r')
  return {
    fd,
    close: () => {
      closeSync(fd)
    },
  }
}

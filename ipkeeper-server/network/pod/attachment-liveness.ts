import { existsSync, readlinkSync } from 'node:fs'
import { Problem } from '../../../shared/problem/problem.ts'
import type { Liveness, NetnsState, LostNode } from '../../ipam/records/standing.ts'
import type { DeathMarks } from '../../ipam/records/attachment-outline.ts'
import type { AttachmentRecord } from '../../ipam/records/records.ts'
import type { NodeState } from '../../kubernetes/cluster-view.ts'
import { inspectNetns, reachNetns } from './namespace.ts'

/** Of nodes whose sandboxes cannot run: only then does Kubernetes start their pods elsewhere (non-graceful node shutdown). */
export function lostNode(state: NodeState): LostNode | undefined {
  return state === 'gone' || state === 'out-of-service' ? state : undefined
}

/** Where runtimes keep namespaces, on a file system that a daemon in a container may not have been given. */
const namespaceFolder = /^(?:\/var)?\/run\/netns(?=\/[^/]+$)/

/** Whether it is not this one path that is gone, but the folder of all: then it is us who do not see it. */
function hasLostNamespaces(path: string): boolean {
  const [folder] = namespaceFolder.exec(path) ?? []
  return folder !== undefined && !existsSync(folder)
}

/** What podman and nerdctl name: a number that means this process only among the processes that the runtime sees. */
const namespaceOfProcess = /^\/proc\/\d+\//

/** Of the machine itself: its number never changes (linux/proc_ns.h, PROC_PID_INIT_INO). */
const firstPidNamespace = 'pid:[4026531836]'

/** Whether what we see at a path, or do not, is not what the runtime saw there. */
function isBlindTo(path: string): string | undefined {
  if (hasLostNamespaces(path)) return 'the folder of namespaces is not there'
  if (namespaceOfProcess.test(path) && readlinkSync('/proc/self/ns/pid') !== firstPidNamespace)
    return "the machine's processes are not seen from here: this daemon is in a PID namespace of its own"
  return undefined
}

/** What stands at a path, for whoever would take its absence as a proof: what we do not see is not absent. */
export function seeNamespace(path: string): NetnsState {
  const reason = isBlindTo(path)
  return reason === undefined ? inspectNetns(path) : { kind: 'unreadable', reason }
}

/** To be awaited before many are asked for their death: of what does not answer in time, nothing is proved. */
export async function reachNamespaces(attachments: readonly DeathMarks[]): Promise<void> {
  for (const { netns, netnsInode } of attachments)
    if (netnsInode !== null)
      await reachNetns(netns).catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error
      })
}

/**
 * What proves an attachment of this node dead: the boot it was made in is over, or its network namespace is gone, or
 * another one stands in its place. A path that was no namespace at ADD proves nothing. Of another node's attachment
 * nothing can be said here.
 *
 * @param see looks at a path
 */
export function deathOf(
  attachment: DeathMarks,
  node: string,
  bootId: string,
  see: (path: string) => NetnsState = seeNamespace,
): 'boot' | 'namespace' | undefined {
  if (attachment.node !== node) return undefined
  if (attachment.bootId !== null && attachment.bootId !== bootId) return 'boot'
  if (attachment.netnsInode === null) return undefined
  const state = see(attachment.netns)
  switch (state.kind) {
    case 'absent':
    case 'not-a-namespace':
      return 'namespace'
    case 'namespace':
      return state.inode === attachment.netnsInode ? undefined : 'namespace'
    case 'unreadable':
      return undefined
  }
}

/**
 * What can be said of an attachment at this moment (DESIGN.md, rule 5). Only its own node may attest its death; of
 * another node's it is known only that the whole node is lost.
 *
 * @param node this one
 * @param nodeState what the API says of a node; "unknown" where there is none to ask
 * @param isForgotten whether an operator has said that it is gone for good
 * @param see looks at a path
 */
export function attachmentLiveness(
  attachment: AttachmentRecord,
  node: string,
  bootId: string,
  nodeState: (name: string) => NodeState,
  isForgotten: (name: string) => boolean = () => false,
  see: (path: string) => NetnsState = seeNamespace,
): Liveness {
  const dead =
    attachment.node === node
      ? deathOf(attachment, node, bootId, see) !== undefined
      : lostNode(nodeState(attachment.node)) !== undefined || isForgotten(attachment.node)
  return dead ? 'dead' : 'unknown'
}

import type { PodView, PodWanted } from './cluster-view.ts'
import { withOwnersKeys } from './dialects/owner-keys.ts'
import type { OwnerReference, PodEntry } from './kube-object.ts'
import type { Misplaced } from './owner-kinds.ts'
import type { ResolvedOwner } from './owner-resolver.ts'
import type { Sink } from './reflector.ts'

/** What finds controllers; see OwnerResolver. */
export interface OwnerSource {
  want(
    podUid: string,
    namespace: string,
    controller: OwnerReference,
    settle: (resolved: ResolvedOwner) => void,
  ): void
  forget(podUid: string): void
}

export interface PodDirectoryOptions {
  readonly owners: OwnerSource
  /** Something is known that was not known before. */
  readonly onChange: () => void
  /** Annotations of ours on the pod's owner that the pod has not got. */
  readonly onMisplaced: (pod: PodEntry, owner: ResolvedOwner, keys: readonly Misplaced[]) => void
}

interface Known {
  pod: PodEntry
  /** null: it has none. undefined: it is being looked up. */
  owner: ResolvedOwner | null | undefined
}

/** The pods of this node and their controllers, which are asked for when a pod is first seen. */
export class PodDirectory implements Sink<PodEntry> {
  readonly #options: PodDirectoryOptions
  readonly #pods = new Map<string, Known>()

  constructor(options: PodDirectoryOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#pods.size
  }

  /** All of them. */
  *entries(): Generator<PodEntry> {
    for (const { pod } of this.#pods.values()) yield pod
  }

  /** See ClusterView.pod. */
  find({ namespace, name, uid }: PodWanted): PodView | undefined {
    const known = this.#pods.get(`${namespace}/${name}`)
    if (!known || !isWanted(known.pod, uid)) return undefined
    return podViewOf(known.pod, known.owner)
  }

  replace(entries: ReadonlyMap<string, PodEntry>): void {
    for (const key of [...this.#pods.keys()]) if (!entries.has(key)) this.remove(key)
    for (const [key, pod] of entries) this.put(key, pod)
    this.#options.onChange()
  }

  put(key: string, pod: PodEntry): void {
    const known = this.#pods.get(key)
    if (known?.pod.uid === pod.uid && known.pod.controller?.uid === pod.controller?.uid) {
      known.pod = pod
    } else {
      if (known) this.#options.owners.forget(known.pod.uid)
      this.#pods.set(key, { pod, owner: pod.controller ? undefined : null })
      this.#ask(key, pod)
    }
    this.#options.onChange()
  }

  remove(key: string): void {
    const known = this.#pods.get(key)
    if (!known) return
    this.#options.owners.forget(known.pod.uid)
    this.#pods.delete(key)
  }

  #ask(key: string, pod: PodEntry): void {
    if (!pod.controller) return
    this.#options.owners.want(pod.uid, pod.namespace, pod.controller, resolved => {
      const known = this.#pods.get(key)
      if (known?.pod.uid !== pod.uid) return
      known.owner = resolved
      this.#options.onChange()
      const lacking = resolved.misplaced.filter(({ key }) => !Object.hasOwn(known.pod.annotations, key))
      if (lacking.length > 0) this.#options.onMisplaced(known.pod, resolved, lacking)
    })
  }
}

/**
 * Whether a pod of the API is the one the runtime speaks of. A static pod has two UIDs: the runtime's is a hash of its
 * manifest, which kubelet writes on the mirror that it makes in the API (kubernetes.io/config.hash and .mirror).
 */
function isWanted(pod: PodEntry, uid: string | null): boolean {
  // Without a UID a pod that is on its way out must not be taken for its successor of the same name.
  if (uid === null) return !pod.deleting
  return (
    pod.uid === uid ||
    pod.annotations['kubernetes.io/config.mirror'] === uid ||
    pod.annotations['kubernetes.io/config.hash'] === uid
  )
}

/** A pod with its controller: null for none, undefined while it is not known. */
export function podViewOf(pod: PodEntry, owner: ResolvedOwner | null | undefined): PodView {
  return {
    uid: pod.uid,
    annotations: withOwnersKeys(pod.annotations, owner?.annotations),
    labels: pod.labels,
    owner: owner ? owner.owner : owner,
  }
}

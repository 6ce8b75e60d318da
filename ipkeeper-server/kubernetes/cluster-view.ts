import type { Owner, StringMap } from '../ipam/records/pod-facts.ts'

export interface PodView {
  readonly uid: string
  readonly annotations: StringMap
  readonly labels: StringMap
  /** The controller at the top; null for none; undefined while it is being looked up. */
  readonly owner: Owner | null | undefined
}

export interface NamespaceView {
  readonly annotations: StringMap
  readonly labels: StringMap
}

/** "gone": the API, heard of lately, has no Node of that name. "unknown": nobody could tell. */
export type NodeState = 'present' | 'out-of-service' | 'gone' | 'unknown'

/** What an ADD waits for: the pod, by UID where the runtime named one, and its namespace. */
export interface PodWanted {
  readonly namespace: string
  readonly name: string
  readonly uid: string | null
  /** Wait for its controller as well: where a rule, or a dialect that writes on the Deployment, needs it. */
  readonly withOwner?: boolean
}

/**
 * What the daemon knows of the cluster: caches that watches keep fresh. Reading them costs no request; while the API is
 * away they go on answering with what was last heard.
 */
export interface ClusterView {
  /** A pod of this node. With a UID, only that very pod (or the mirror of that static pod). */
  pod(wanted: PodWanted): PodView | undefined
  namespace(name: string): NamespaceView | undefined
  /** Labels of this node. */
  nodeLabels(): StringMap | undefined
  node(name: string): NodeState
  /** Whether the cluster is known to have other nodes than this one. */
  hasOtherNodes(): boolean
  /** Resolves to true as soon as pod and namespace are in the caches, to false after `milliseconds`. */
  waitForPod(wanted: PodWanted, milliseconds: number): Promise<boolean>
  /**
   * A pod of any node, asked of the API now; undefined when the API has none of that name. Rejects with an Error that says
   * why when the API gives no answer within some seconds. For people's questions: no ADD may depend on it.
   */
  fetchPod(namespace: string, name: string): Promise<PodView | undefined>
  /** Whether the owner, by UID, still exists. Asks the API. */
  ownerExists(namespace: string, owner: Owner): Promise<'exists' | 'gone' | 'unknown'>
}

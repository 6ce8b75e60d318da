/** A pod sandbox as the CRI tells of it. */
export interface Sandbox {
  /** The container ID that plugins are called with. */
  readonly id: string
  readonly namespace: string
  readonly name: string
  readonly uid: string
  /** Whether its processes run (SANDBOX_READY). */
  readonly ready: boolean
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** What one runtime says. A runtime that fails says nothing of any sandbox. */
export type RuntimeAnswer =
  | { readonly socket: string; readonly state: 'listed'; readonly sandboxes: readonly Sandbox[] }
  | { readonly socket: string; readonly state: 'failed'; readonly reason: string }

/** What a runtime says of itself, such as NetworkReady. */
export interface RuntimeCondition {
  readonly type: string
  readonly holds: boolean
  readonly reason: string
  readonly message: string
}

/** What a runtime is: "containerd" and "v2.1.4". */
export interface RuntimeVersion {
  readonly name: string
  readonly version: string
}

/** The container runtimes of this node. */
export interface ContainerRuntimes {
  /** All sandboxes of each runtime whose socket is there. Never rejects. */
  list(): Promise<readonly RuntimeAnswer[]>
  /** Addresses that the runtime holds a sandbox to have; empty when it has none, or is not known. Rejects with an Error. */
  addressesOf(socket: string, id: string): Promise<readonly string[]>
  /** Rejects with an Error. */
  conditions(socket: string): Promise<readonly RuntimeCondition[]>
  close(): void
}

/** IDs of all sandboxes, where every runtime that is there could be asked. */
export function idsIfAllListed(answers: readonly RuntimeAnswer[]): ReadonlySet<string> | undefined {
  const ids = new Set<string>()
  for (const answer of answers) {
    if (answer.state !== 'listed') return undefined
    for (const { id } of answer.sandboxes) ids.add(id)
  }
  return answers.length === 0 ? undefined : ids
}

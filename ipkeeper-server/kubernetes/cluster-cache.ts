import { nearestWord } from '../../shared/text/nearest-word.ts'
import type { Owner, StringMap } from '../ipam/records/pod-facts.ts'
import type { ClusterView, NamespaceView, NodeState, PodView, PodWanted } from './cluster-view.ts'
import type { NamespaceEntry, NodeEntry } from './kube-object.ts'
import { PodDirectory, type PodDirectoryOptions } from './pod-directory.ts'
import type { Sink } from './reflector.ts'

export interface ClusterCacheOptions extends Pick<PodDirectoryOptions, 'owners' | 'onMisplaced'> {
  /** Name of this node. */
  readonly node: string
  /** Whether the nodes were listed, and the server was heard of lately enough to believe that one is missing. */
  readonly nodesFresh: () => boolean
  readonly fetchPod: ClusterView['fetchPod']
  readonly ownerExists: ClusterView['ownerExists']
}

interface Waiting {
  readonly wanted: PodWanted
  readonly settle: () => void
}

/** What watches have told, in one place; see ClusterView. */
export class ClusterCache implements ClusterView {
  readonly pods: PodDirectory
  readonly namespaces: Sink<NamespaceEntry>
  readonly nodes: Sink<NodeEntry>
  readonly fetchPod: (namespace: string, name: string) => Promise<PodView | undefined>
  readonly ownerExists: (namespace: string, owner: Owner) => Promise<'exists' | 'gone' | 'unknown'>
  readonly #options: ClusterCacheOptions
  readonly #namespaces = new Map<string, NamespaceEntry>()
  readonly #nodes = new Map<string, NodeEntry>()
  readonly #waiting = new Set<Waiting>()
  #needsNamespaces = false

  constructor(options: ClusterCacheOptions) {
    this.#options = options
    this.fetchPod = options.fetchPod
    this.ownerExists = options.ownerExists
    const onChange = (): void => {
      this.#tellWaiting()
    }
    this.pods = new PodDirectory({ ...options, onChange })
    this.namespaces = mirror(this.#namespaces, onChange)
    this.nodes = mirror(this.#nodes, () => undefined)
  }

  /** Whether a pod is complete only with its namespace; what is known of namespaces is dropped when it is not. */
  needNamespaces(needed: boolean): void {
    this.#needsNamespaces = needed
    if (!needed) this.#namespaces.clear()
    this.#tellWaiting()
  }

  counts(): { readonly pods: number; readonly namespaces: number; readonly nodes: number } {
    return { pods: this.pods.size, namespaces: this.#namespaces.size, nodes: this.#nodes.size }
  }

  pod(wanted: PodWanted): PodView | undefined {
    return this.pods.find(wanted)
  }

  namespace(name: string): NamespaceView | undefined {
    return this.#namespaces.get(name)
  }

  nodeLabels(): StringMap | undefined {
    return this.#nodes.get(this.#options.node)?.labels
  }

  /**
   * Being absent is believed only of a fresh list that holds our own node: a list of another cluster, or one that was cut
   * short, says nothing. Being out of service hands addresses over as well, so it has to be as fresh.
   */
  node(name: string): NodeState {
    const entry = this.#nodes.get(name)
    if (entry && !entry.outOfService) return 'present'
    if (!this.#options.nodesFresh()) return 'unknown'
    if (entry) return 'out-of-service'
    return this.#nodes.has(this.#options.node) ? 'gone' : 'unknown'
  }

  /** InternalIP addresses of the nodes that have some. */
  nodeAddresses(): ReadonlyMap<string, readonly string[]> {
    const known = [...this.#nodes].filter(([, { addresses }]) => addresses.length > 0)
    return new Map(known.map(([name, { addresses }]) => [name, addresses]))
  }

  hasOtherNodes(): boolean {
    return this.#nodes.size > (this.#nodes.has(this.#options.node) ? 1 : 0)
  }

  /** When the API knows nodes, but not this one: the name it most likely means, or any; undefined when all is well. */
  misnamed(): { readonly meant: string | undefined } | undefined {
    if (this.#nodes.size === 0 || this.#nodes.has(this.#options.node)) return undefined
    const names = [...this.#nodes.keys()]
    // "worker-1" and "worker-1.example.org" are far apart in letters, and the usual mistake.
    const [host] = this.#options.node.split('.')
    const meant = names.find(name => name.split('.')[0] === host)
    return { meant: meant ?? nearestWord(this.#options.node, names) }
  }

  async waitForPod(wanted: PodWanted, milliseconds: number): Promise<boolean> {
    if (this.#has(wanted)) return true
    return await new Promise(resolve => {
      const waiting: Waiting = {
        wanted,
        settle: () => {
          clearTimeout(timer)
          this.#waiting.delete(waiting)
          resolve(true)
        },
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting)
        resolve(false)
      }, milliseconds)
      this.#waiting.add(waiting)
    })
  }

  #has(wanted: PodWanted): boolean {
    const pod = this.pods.find(wanted)
    if (!pod || (wanted.withOwner === true && pod.owner === undefined)) return false
    return !this.#needsNamespaces || this.#namespaces.has(wanted.namespace)
  }

  #tellWaiting(): void {
    for (const waiting of [...this.#waiting]) if (this.#has(waiting.wanted)) waiting.settle()
  }
}

/** A map kept equal to what a reflector reads. */
function mirror<Entry>(map: Map<string, Entry>, onChange: () => void): Sink<Entry> {
  return {
    replace: entries => {
      map.clear()
      for (const [key, entry] of entries) map.set(key, entry)
      onChange()
    },
    put: (key, entry) => {
      map.set(key, entry)
      onChange()
    },
    remove: key => {
      map.delete(key)
    },
  }
}

import { type ApiAccess, ApiClient, type ApiLimits } from './api-client.ts'
import { reviewAccess, type AccessReport } from './access-review.ts'
import { systemClock, type ClientClock, type ClusterLog } from './client-context.ts'
import { ClusterCache } from './cluster-cache.ts'
import type { ClusterView } from './cluster-view.ts'
import { ApiEventRecorder, type EventCounts, type EventRecorder } from './events.ts'
import { fetchPod, listNodePods, type NodePod } from './ask-pods.ts'
import { KindDiscovery, ownerExists } from './owner-existence.ts'
import type { Misplaced } from './owner-kinds.ts'
import {
  projectNamespace,
  projectNode,
  projectPod,
  type NamespaceEntry,
  type NodeEntry,
  type PodEntry,
} from './kube-object.ts'
import { OwnerResolver, type ResolvedOwner } from './owner-resolver.ts'
import { Reflector, type ReflectorOptions, type ReflectorStatus, type ReflectorTiming } from './reflector.ts'
import { backoff, jittered } from './watch-progress.ts'

export interface ClusterOptions {
  readonly access: ApiAccess
  /** Name of this node in the cluster. */
  readonly node: string
  /** Whether labels and annotations of namespaces are wanted; can be changed later. */
  readonly watchNamespaces: boolean
  /** Whether the ledger is in custom resources, which needs further rights. */
  readonly kubernetesStore?: boolean
  readonly log: ClusterLog
  /** What an event advises, as it works where this daemon runs. Absent: as it is written. */
  readonly remedy?: (text: string) => string
  readonly clock?: ClientClock
  readonly timing?: Partial<ReflectorTiming>
  readonly limits?: Partial<ApiLimits>
}

export interface ClusterStatus {
  readonly server: string
  readonly source: string
  /** Whether all watches are open. */
  readonly connected: boolean
  readonly watches: readonly ReflectorStatus[]
  readonly counts: { readonly pods: number; readonly namespaces: number; readonly nodes: number }
  /** Pods whose controller is still being asked for. */
  readonly ownersWaiting: number
  readonly events: EventCounts
  /** undefined until the API has answered. */
  readonly access: AccessReport | undefined
  /** Set when the API has no Node of our name; `meant` is the nearest that it has. */
  readonly misnamed: { readonly meant: string | undefined } | undefined
}

/** Milliseconds after which a server that says nothing may have lost nodes that we still know, and the other way round. */
const nodesTrustedFor = 120_000
/** Milliseconds for which an answer about missing rights is not asked for again. */
const reviewTrustedFor = 2_000
/** Owners of whose misplaced annotations was told. */
const toldLimit = 1_000

/** Everything of the Kubernetes API that the daemon uses. Starting it waits for nothing and cannot fail. */
export class Cluster {
  readonly view: ClusterView
  readonly events: EventRecorder
  /** Called when addresses of nodes may have changed. */
  onNodes: () => void = () => undefined
  readonly #options: ClusterOptions
  readonly #clock: ClientClock
  readonly #client: ApiClient
  readonly #cache: ClusterCache
  readonly #owners: OwnerResolver
  readonly #recorder: ApiEventRecorder
  readonly #pods: Reflector<PodEntry>
  readonly #nodes: Reflector<NodeEntry>
  readonly #told = new Set<string>()
  #namespaces: Reflector<NamespaceEntry> | undefined
  #watchNamespaces: boolean
  #started = false
  #stopped = false
  #access: AccessReport | undefined
  #accessTimer: NodeJS.Timeout | undefined
  #reviewing = false
  #saidMisnamed = false

  constructor(options: ClusterOptions) {
    const {
      access,
      node,
      log,
      clock = systemClock,
      limits,
      remedy = (text: string): string => text,
    } = options
    this.#options = options
    this.#clock = clock
    this.#watchNamespaces = options.watchNamespaces
    const client = new ApiClient(access, limits)
    const discovery = new KindDiscovery(client, clock)
    this.#client = client
    this.#owners = new OwnerResolver(client, clock, log)
    this.#recorder = new ApiEventRecorder(client, node, clock, log)
    this.#cache = new ClusterCache({
      node,
      owners: this.#owners,
      nodesFresh: () => this.#nodes.synced && this.#nodes.lastContactAge() < nodesTrustedFor,
      fetchPod: (namespace, name) => fetchPod(client, this.#owners, namespace, name),
      ownerExists: (namespace, owner) => ownerExists(client, discovery, namespace, owner),
      onMisplaced: (pod, owner, keys) => {
        this.#tellMisplaced(pod, owner, keys)
      },
    })
    this.view = this.#cache
    this.events = {
      record: (subject, event) => {
        const { message, remedy: advice = '' } = event
        this.#recorder.record(subject, { ...event, message: remedy(message), remedy: remedy(advice) })
      },
    }
    this.#pods = this.#reflector({
      resource: 'pods',
      path: '/api/v1/pods',
      fieldSelector: `spec.nodeName=${node}`,
      representation: 'metadata',
      // From the store, each daemon of a cluster would have all pods of the cluster read.
      firstList: 'cache',
      project: projectPod,
      sink: this.#cache.pods,
    })
    this.#nodes = this.#reflector({
      resource: 'nodes',
      path: '/api/v1/nodes',
      // Taints are no metadata.
      representation: 'full',
      // What is missing from it counts as gone.
      firstList: 'store',
      project: object => projectNode(object, node),
      sink: {
        ...this.#cache.nodes,
        replace: entries => {
          this.#cache.nodes.replace(entries)
          this.#sayMisnamed()
          this.onNodes()
        },
        put: (key, entry) => {
          this.#cache.nodes.put(key, entry)
          this.onNodes()
        },
      },
    })
  }

  start(): void {
    this.#started = true
    this.#pods.start()
    this.#nodes.start()
    this.setWatchNamespaces(this.#watchNamespaces)
    void this.#reviewRights(1)
  }

  /** When the configuration that was reloaded wants namespaces, or no longer does. */
  setWatchNamespaces(wanted: boolean): void {
    this.#watchNamespaces = wanted
    this.#cache.needNamespaces(wanted)
    if (!wanted) {
      void this.#namespaces?.stop()
      this.#namespaces = undefined
    } else if (this.#started && !this.#stopped && !this.#namespaces) {
      this.#namespaces = this.#reflector({
        resource: 'namespaces',
        path: '/api/v1/namespaces',
        representation: 'metadata',
        firstList: 'store',
        project: projectNamespace,
        sink: this.#cache.namespaces,
      })
      this.#namespaces.start()
      // A further right is needed now than at the start.
      if (this.#access) void this.#reviewRights(1)
    }
  }

  /** Ends all connections; events that are still queued get a second. */
  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#accessTimer)
    this.#owners.stop()
    const stopping = this.#reflectors().map(reflector => reflector.stop())
    await this.#recorder.stop()
    // A list that is under way ends with its connection.
    await this.#client.close()
    await Promise.all(stopping)
  }

  /** Whether the API has told of its nodes since the start. */
  hasListedNodes(): boolean {
    return this.#nodes.synced
  }

  /** Addresses of nodes, as the API has told them. */
  nodeAddresses(): ReadonlyMap<string, readonly string[]> {
    return this.#cache.nodeAddresses()
  }

  /** See listNodePods. */
  async nodePods(): Promise<readonly NodePod[]> {
    return await listNodePods(this.#client, this.#options.node)
  }

  /** Asks anew which rights are missing. Rejects with ApiError when the API does not answer. */
  async checkAccess(): Promise<AccessReport> {
    const { kubernetesStore = false } = this.#options
    const needs = { watchNamespaces: this.#watchNamespaces, kubernetesStore }
    this.#access = await reviewAccess(this.#client, needs, this.#clock.now())
    return this.#access
  }

  status(): ClusterStatus {
    this.#reviewAgain()
    const watches = this.#reflectors().map(reflector => reflector.status())
    return {
      server: this.#client.server,
      source: this.#client.source,
      connected: watches.every(({ connected }) => connected),
      watches,
      counts: this.#cache.counts(),
      ownersWaiting: this.#owners.waiting,
      events: this.#recorder.counts(),
      access: this.#access,
      misnamed: this.#nodes.synced ? this.#cache.misnamed() : undefined,
    }
  }

  /** The pods of this node, as the API has told of them. */
  pods(): Iterable<PodEntry> {
    return this.#cache.pods.entries()
  }

  #reflectors(): readonly Pick<Reflector<unknown>, 'stop' | 'status'>[] {
    return [this.#pods, this.#nodes, ...(this.#namespaces ? [this.#namespaces] : [])]
  }

  #reflector<Entry>(
    options: Omit<ReflectorOptions<Entry>, 'client' | 'clock' | 'log' | 'timing'>,
  ): Reflector<Entry> {
    const { log, timing = {} } = this.#options
    return new Reflector({ ...options, client: this.#client, clock: this.#clock, log, timing })
  }

  async #reviewRights(attempt: number): Promise<void> {
    try {
      const { missing, add } = await this.checkAccess()
      if (missing.length === 0) return
      const rights = missing.map(({ verb, resource, why }) => `${verb} ${resource} (${why})`)
      this.#options.log.warn({ missing: rights, add }, 'the Kubernetes API does not grant all that is needed')
    } catch {
      // Why is in the log already: the watches use the same connection. A closed client is no reason to try again.
      if (this.#stopped) return
      this.#accessTimer = setTimeout(
        () => {
          void this.#reviewRights(attempt + 1)
        },
        jittered(backoff(attempt + 2), this.#clock.random()),
      )
    }
  }

  /** What was missing may have been granted since: whoever looks at it has it asked for, for the next look. */
  #reviewAgain(): void {
    const known = this.#access
    if (!known || known.missing.length === 0 || this.#reviewing || this.#stopped) return
    if (Math.abs(this.#clock.now() - known.checkedAt) < reviewTrustedFor) return
    this.#reviewing = true
    this.checkAccess()
      .catch(() => undefined)
      .finally(() => (this.#reviewing = false))
  }

  #sayMisnamed(): void {
    const misnamed = this.#cache.misnamed()
    if (!misnamed || this.#saidMisnamed) return
    this.#saidMisnamed = true
    const { meant } = misnamed
    this.#options.log.warn(
      { node: this.#options.node, ...(meant !== undefined && { meant }) },
      'the cluster has no Node of this name, so none of its pods will be seen; correct "node" in the configuration',
    )
  }

  #tellMisplaced(pod: PodEntry, { owner }: ResolvedOwner, keys: readonly Misplaced[]): void {
    if (this.#told.has(owner.uid)) return
    this.#told.add(owner.uid)
    const [oldest] = this.#told
    if (this.#told.size > toldLimit && oldest !== undefined) this.#told.delete(oldest)
    const object = `${owner.kind} ${pod.namespace}/${owner.name}`
    const places = keys.map(({ key, found, belongs }) => `${key} is in ${found} and belongs in ${belongs}`)
    this.events.record(pod, {
      type: 'Warning',
      reason: 'MisplacedAnnotation',
      action: 'ReadOwner',
      message: `${object}: no pod sees what is written there: ${places.join('; ')}`,
    })
  }
}

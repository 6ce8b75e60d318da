import type { CachedAttachment } from '../../../result-cache/plan/read-cached-result.ts'
import type { RuntimeAnswer, Sandbox } from '../../../runtime/sandboxes.ts'
import type { FoundAllocation } from '../../../../shared/api/import.schema.ts'

/** An allocation as its source has it, before the node is asked for the rest. */
export type SourceAllocation = Omit<FoundAllocation, 'runtime' | 'netns'>

/** What of a source cannot be read. */
export interface Unreadable {
  readonly origin: string
  /** As far as it can be told. */
  readonly address: string | null
  readonly why: string
}

export interface Findings {
  readonly allocations: readonly SourceAllocation[]
  readonly unreadable: readonly Unreadable[]
}

/** An allocation of which a source tells nothing but where and what. */
export function bareAllocation(origin: string, address: string): SourceAllocation {
  return {
    ...{ origin, address },
    ...{ network: null, containerId: null, ifname: null, pod: null, node: null, mac: null, since: null },
    keeps: false,
  }
}

export function joinFindings(parts: readonly Findings[]): Findings {
  return {
    allocations: parts.flatMap(({ allocations }) => allocations),
    unreadable: parts.flatMap(({ unreadable }) => unreadable),
  }
}

/** "shop/web-0" as a pod; null for anything else. */
export function parsePodReference(text: string): { namespace: string; name: string; uid: null } | null {
  const [namespace = '', name = '', ...rest] = text.split('/')
  return namespace === '' || name === '' || rest.length > 0 ? null : { namespace, name, uid: null }
}

/** What else this node tells of its containers. */
export interface NodeKnowledge {
  readonly cached: readonly CachedAttachment[]
  readonly runtimes: readonly RuntimeAnswer[]
}

/** Only allocations of this network; undefined: all. */
export interface WantedNetwork {
  readonly network: string | undefined
}

const samePod = (
  pod: { readonly namespace: string; readonly name: string },
  other: { readonly namespace: string; readonly name: string },
): boolean => pod.namespace === other.namespace && pod.name === other.name

/** Whether what a runtime keeps of an ADD may be that of an allocation: what both say is the same. */
function mayBeOf(source: SourceAllocation, cached: CachedAttachment): boolean {
  return (
    (source.containerId === null || source.containerId === cached.containerId) &&
    (source.network === null || source.network === cached.network) &&
    (source.ifname === null || source.containerId === null || source.ifname === cached.ifname) &&
    (source.pod === null || cached.pod === null || samePod(source.pod, cached.pod))
  )
}

/** The sandbox that a pod has now; of several the newest that runs. */
function sandboxOf(
  pod: NonNullable<SourceAllocation['pod']>,
  sandboxes: readonly Sandbox[],
): Sandbox | undefined {
  return sandboxes
    .filter(
      one => samePod(pod, one) && one.ready && (pod.uid === null || one.uid === '' || one.uid === pod.uid),
    )
    .sort((a, b) => b.createdAt - a.createdAt)[0]
}

interface CachedAddress {
  readonly address: string
  readonly entry: CachedAttachment
}

/** What the node knows, by what it is looked up with. */
interface NodeIndex {
  readonly byAddress: ReadonlyMap<string, readonly CachedAddress[]>
  readonly sandboxes: readonly Sandbox[]
  readonly sandboxById: ReadonlyMap<string, Sandbox>
  readonly cachedContainers: ReadonlySet<string>
  /** Whether a container that no runtime lists is gone. */
  readonly omissionCounts: boolean
}

function indexNode({ cached, runtimes }: NodeKnowledge): NodeIndex {
  const sandboxes = runtimes.flatMap(answer => (answer.state === 'listed' ? answer.sandboxes : []))
  return {
    byAddress: Map.groupBy(
      cached.flatMap(entry => entry.addresses.map(address => ({ address, entry }))),
      ({ address }) => address,
    ),
    sandboxes,
    sandboxById: new Map(sandboxes.map(sandbox => [sandbox.id, sandbox])),
    cachedContainers: new Set(cached.map(({ containerId }) => containerId)),
    // A runtime that lists nothing may have been started a moment ago, or have made none of the containers here.
    omissionCounts:
      runtimes.length > 0 &&
      runtimes.every(answer => answer.state === 'listed' && answer.sandboxes.length > 0),
  }
}

/** The cached Result of an allocation. Of several that fit it is the one whose container runs, if only one does. */
function entryOf(
  source: SourceAllocation,
  { byAddress, sandboxById }: NodeIndex,
): CachedAttachment | undefined {
  const entries = byAddress.get(source.address)?.map(({ entry }) => entry) ?? []
  const fitting = entries.filter(entry => mayBeOf(source, entry))
  const running = fitting.filter(entry => sandboxById.has(entry.containerId))
  return fitting.length === 1 ? fitting[0] : running.length === 1 ? running[0] : undefined
}

/** What the runtimes say of a container. */
function runtimeState(
  containerId: string | null,
  entry: CachedAttachment | undefined,
  { sandboxById, cachedContainers, omissionCounts }: NodeIndex,
): FoundAllocation['runtime'] {
  if (containerId !== null) {
    const sandbox = sandboxById.get(containerId)
    // One that is stopped has had its DEL, or will never have it: its namespace tells which, where that is known.
    if (sandbox && (sandbox.ready || entry === undefined)) return 'listed'
    if (cachedContainers.has(containerId)) return 'cached'
  }
  return omissionCounts ? 'absent' : 'unknown'
}

function completeAllocation(
  source: SourceAllocation,
  index: NodeIndex,
  wanted: WantedNetwork,
): FoundAllocation {
  const { sandboxes, sandboxById } = index
  const entry = entryOf(source, index)
  const pod = source.pod ?? entry?.pod ?? null
  const containerId =
    source.containerId ?? entry?.containerId ?? (pod ? sandboxOf(pod, sandboxes)?.id : undefined) ?? null
  const sandbox = containerId === null ? undefined : sandboxById.get(containerId)
  const named = pod ?? (sandbox && { namespace: sandbox.namespace, name: sandbox.name, uid: null })
  // An interface is only as sure as the container that it is said of.
  const ifnames = [source.ifname, entry?.ifname]
  if (source.containerId === null) ifnames.reverse()
  return {
    ...source,
    network: source.network ?? entry?.network ?? wanted.network ?? null,
    containerId,
    ifname: ifnames[0] ?? ifnames[1] ?? null,
    pod: named ? { ...named, uid: named.uid ?? entry?.pod?.uid ?? (sandbox?.uid || null) } : null,
    mac: source.mac ?? entry?.mac ?? null,
    netns: entry?.netns ?? null,
    runtime: runtimeState(containerId, entry, index),
  }
}

/** An entry that cannot be read, from the one cached Result that has its address. */
function recoverAllocation(
  { origin, address }: Unreadable,
  { byAddress }: NodeIndex,
): SourceAllocation | undefined {
  if (address === null) return undefined
  const [only, ...others] = byAddress.get(address) ?? []
  if (!only || others.length > 0) return undefined
  const { network, containerId, ifname } = only.entry
  return { ...bareAllocation(origin, address), network, containerId, ifname }
}

/**
 * What sources leave out, from what runtimes keep: libcni's cache names network, interface, namespace and pod of an
 * address, and the CRI the pod of a container, and the container of a pod. An address whose entry in the source cannot be
 * read is found there as well.
 */
export function completeFindings(
  { allocations, unreadable }: Findings,
  knowledge: NodeKnowledge,
  wanted: WantedNetwork,
): { readonly found: readonly FoundAllocation[]; readonly unreadable: readonly Unreadable[] } {
  const index = indexNode(knowledge)
  const tried = unreadable.map(one => ({ one, recovered: recoverAllocation(one, index) }))
  const found = [...allocations, ...tried.flatMap(({ recovered }) => recovered ?? [])]
    .map(source => completeAllocation(source, index, wanted))
    .filter(({ network }) => wanted.network === undefined || network === wanted.network)
  return { found, unreadable: tried.flatMap(({ one, recovered }) => (recovered ? [] : [one])) }
}

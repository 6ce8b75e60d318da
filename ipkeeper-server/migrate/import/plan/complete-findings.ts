import type { FoundAllocation } from '../../../../shared/api/import.schema.ts'
import type { RuntimeAnswer, Sandbox } from '../../../runtime/sandboxes.ts'
import { toldOnly, type Findings, type ToldAllocation, type Unreadable } from './findings.ts'
import type { CachedAttachment } from '../../../result-cache/plan/read-cached-result.ts'

/** What else this node tells of its containers. */
export interface NodeKnowledge {
  readonly cached: readonly CachedAttachment[]
  readonly runtimes: readonly RuntimeAnswer[]
}

/** Only allocations of this network; undefined: all. */
export interface Wanted {
  readonly network: string | undefined
}

const samePod = (
  pod: { readonly namespace: string; readonly name: string },
  other: { readonly namespace: string; readonly name: string },
): boolean => pod.namespace === other.namespace && pod.name === other.name

/** Whether what a runtime keeps of an ADD may be that of an allocation: what both say is the same. */
function mayBeOf(told: ToldAllocation, cached: CachedAttachment): boolean {
  return (
    (told.containerId === null || told.containerId === cached.containerId) &&
    (told.network === null || told.network === cached.network) &&
    (told.ifname === null || told.containerId === null || told.ifname === cached.ifname) &&
    (told.pod === null || cached.pod === null || samePod(told.pod, cached.pod))
  )
}

/** The sandbox that a pod has now; of several the newest that runs. */
function sandboxOf(
  pod: NonNullable<ToldAllocation['pod']>,
  sandboxes: readonly Sandbox[],
): Sandbox | undefined {
  return sandboxes
    .filter(
      one => samePod(pod, one) && one.ready && (pod.uid === null || one.uid === '' || one.uid === pod.uid),
    )
    .sort((a, b) => b.createdAt - a.createdAt)[0]
}

/**
 * What sources leave out, from what runtimes keep: libcni's cache names network, interface, namespace and pod of an
 * address, and the CRI the pod of a container, and the container of a pod. An address whose entry in the source cannot be
 * read is found there as well.
 */
export function completeFindings(
  { allocations, unreadable }: Findings,
  { cached, runtimes }: NodeKnowledge,
  wanted: Wanted,
): { readonly found: readonly FoundAllocation[]; readonly unreadable: readonly Unreadable[] } {
  const byAddress = Map.groupBy(
    cached.flatMap(entry => entry.addresses.map(address => ({ address, entry }))),
    ({ address }) => address,
  )
  const sandboxes = runtimes.flatMap(answer => (answer.state === 'listed' ? answer.sandboxes : []))
  const byId = new Map(sandboxes.map(sandbox => [sandbox.id, sandbox]))
  const known = new Set(cached.map(({ containerId }) => containerId))
  // One that lists nothing may have been started a moment ago, or be none of those that made anything here.
  const omits =
    runtimes.length > 0 && runtimes.every(answer => answer.state === 'listed' && answer.sandboxes.length > 0)

  const complete = (told: ToldAllocation): FoundAllocation => {
    const entries = byAddress.get(told.address)?.map(({ entry }) => entry) ?? []
    const fitting = entries.filter(entry => mayBeOf(told, entry))
    // Of several, nothing tells which it is: the one whose container runs, if it is one.
    const running = fitting.filter(entry => byId.has(entry.containerId))
    const entry = fitting.length === 1 ? fitting[0] : running.length === 1 ? running[0] : undefined
    const pod = told.pod ?? entry?.pod ?? null
    const containerId =
      told.containerId ?? entry?.containerId ?? (pod ? sandboxOf(pod, sandboxes)?.id : undefined) ?? null
    const sandbox = containerId === null ? undefined : byId.get(containerId)
    const named = pod ?? (sandbox && { namespace: sandbox.namespace, name: sandbox.name, uid: null })
    return {
      ...told,
      network: told.network ?? entry?.network ?? wanted.network ?? null,
      containerId,
      ifname: (told.containerId === null ? entry?.ifname : undefined) ?? told.ifname ?? entry?.ifname ?? null,
      pod: named ? { ...named, uid: named.uid ?? entry?.pod?.uid ?? (sandbox?.uid || null) } : null,
      mac: told.mac ?? entry?.mac ?? null,
      netns: entry?.netns ?? null,
      runtime:
        // One that is stopped has had its DEL, or will never have it: its namespace tells which, where that is known.
        sandbox !== undefined && (sandbox.ready || entry === undefined)
          ? 'listed'
          : containerId !== null && known.has(containerId)
            ? 'cached'
            : omits
              ? 'absent'
              : 'unknown',
    }
  }

  const lost: Unreadable[] = []
  const recovered = unreadable.flatMap((one): ToldAllocation[] => {
    const entries = one.address === null ? [] : (byAddress.get(one.address) ?? [])
    const [only] = entries
    if (one.address === null || !only || entries.length > 1) {
      lost.push(one)
      return []
    }
    const { network, containerId, ifname } = only.entry
    return [{ ...toldOnly(one.origin, one.address), network, containerId, ifname }]
  })
  const found = [...allocations, ...recovered]
    .map(complete)
    .filter(({ network }) => wanted.network === undefined || network === wanted.network)
  return { found, unreadable: lost }
}

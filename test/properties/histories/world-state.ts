import type { Retention } from '../../../ipkeeper-server/ipam/records/retention.ts'
import type { ConfiguredPool, PoolWords } from './pool-shapes.ts'

/** The words in which the reference model thinks. An address with its segment, "default/10.1.0.2", is called a place. */

export interface WorkloadWords {
  readonly namespace: string
  /** null where only a name told, which did not say. */
  readonly kind: string | null
  readonly name: string
  readonly uid: string | null
}

/** An address that somebody has, keeps, or lets rest. Never changed in place. */
export interface Hold {
  readonly place: string
  readonly state: 'bound' | 'held' | 'cooling'
  readonly pool: string
  /** "NETWORK NAMESPACE/POD INTERFACE" */
  readonly holder: string
  readonly uid: string | null
  /** null for a container without a pod. */
  readonly workload: WorkloadWords | null
  /** null unless bound. */
  readonly sandbox: string | null
  readonly node: string
  readonly named: boolean
  readonly retain: Retention
  readonly since: number
  readonly until: number | null
  /** Known when its time is over, because its pool gives the least recently used. */
  readonly remembered: boolean
}

/** What one ADD made: "NETWORK CONTAINER INTERFACE". Never changed in place, so that another one of its name is another. */
export interface Sandbox {
  readonly id: string
  readonly holder: string
  readonly uid: string | null
  readonly node: string
  readonly bootId: string
  /** Its network namespace, which no other sandbox has. */
  readonly netns: string
  readonly run: string
  readonly startedAt: number
  /** What its ADD found at each place that it wrote, and in which sandbox. */
  readonly found: ReadonlyMap<string, Found>
  /** The holder's newest sandbox before. */
  readonly older: Sandbox | undefined
}

export interface Found {
  readonly before: Hold | undefined
  readonly of: Sandbox | undefined
  readonly wrote: Hold
}

/** Who asks for what. */
export interface Asker {
  readonly sandbox: string
  readonly holder: string
  /** null for a container without a pod. */
  readonly pod: {
    readonly namespace: string
    /** The namespace's label; undefined where nobody can tell. */
    readonly team: string | undefined
    readonly name: string
    readonly workload: WorkloadWords
    /** Its place among candidates; undefined where any will do. */
    readonly index: number | undefined
  } | null
  readonly uid: string | null
  readonly node: string
  readonly bootId: string
  readonly netns: string
  readonly run: string
  readonly startedAt: number
  readonly network: {
    readonly name: string
    readonly pools: readonly string[]
    readonly inline: PoolWords | undefined
  }
  /** Addresses without segment, at most one of a family. */
  readonly ips: readonly string[]
  /** Candidates, at most one list of a family, and none of a family that `ips` has. */
  readonly lists: readonly (readonly string[])[]
  readonly pools: readonly string[]
  readonly retain: Retention | undefined
  /** Its answer counts as arrived only where a mark says so. */
  readonly confirms: boolean
  /** Nobody gets its answer, and no mark will ever say so. */
  readonly isLost: boolean
}

/** An address that is reserved for a pod, or with a kind for a workload. */
export interface Promised {
  readonly place: string
  readonly namespace: string
  readonly name: string
  readonly kind: string | undefined
}

/** What came of a step: places in their order, or the code of a problem. */
export type Seen = { readonly places: readonly string[] } | { readonly code: string }

/** All that an ADD is decided from. */
export interface WorldState {
  readonly now: number
  readonly config: readonly ConfiguredPool[]
  /** Network namespaces that are gone, and nodes that are. */
  readonly netnsGone: ReadonlySet<string>
  readonly nodesGone: ReadonlySet<string>
  readonly holds: ReadonlyMap<string, Hold>
  readonly sandboxes: ReadonlyMap<string, Sandbox>
  /** The newest sandbox of each holder. */
  readonly newest: ReadonlyMap<string, Sandbox>
  readonly promises: ReadonlyMap<string, Promised>
  /** Own ranges of networks, as last used. */
  readonly known: ReadonlyMap<string, PoolWords>
  /** Holders whose names a controller made up: no later pod will bear one. */
  readonly generated: ReadonlySet<string>
}

export const familyOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4)

export const addressOf = (place: string): string => place.slice(place.indexOf('/') + 1)

export const isOver = (hold: Hold, now: number): boolean => hold.until !== null && hold.until <= now

export function show(seen: Seen): string {
  return 'code' in seen ? seen.code : seen.places.join() || 'success'
}

/** Only the sandbox's own node can say that its namespace is gone; that a node is gone, all can. */
export function isDead(
  world: Pick<WorldState, 'netnsGone' | 'nodesGone'>,
  { netns, node }: Pick<Sandbox, 'netns' | 'node'>,
  seenFrom: string,
): boolean {
  return (node === seenFrom && world.netnsGone.has(netns)) || world.nodesGone.has(node)
}

/** Whether somebody has an address that another one was promised. */
export function isMoved({ promises }: Pick<WorldState, 'promises'>, hold: Hold): boolean {
  const promise = promises.get(hold.place)
  if (!promise || hold.state === 'cooling') return false
  const { namespace, name, kind } = promise
  if (kind === undefined) return hold.holder.split(' ')[1] !== `${namespace}/${name}`
  const { workload } = hold
  return workload?.namespace !== namespace || workload.name !== name || !sameKind(workload.kind, kind)
}

/** A kind or UID that is not known agrees with any. */
export function sameWorkload(a: WorkloadWords | null, b: WorkloadWords | null): boolean {
  if (a === null || b === null || a.namespace !== b.namespace || a.name !== b.name) return false
  const sameUid = a.uid === null || b.uid === null || a.uid === b.uid
  return sameKind(a.kind, b.kind) && sameUid
}

/** A name that does not say its kind is none of those that names tell. */
export function sameKind(a: string | null, b: string | null): boolean {
  const [known] = a === null ? [b] : b === null ? [a] : []
  return known === undefined || known === null ? a === b : !['StatefulSet', 'Pod'].includes(known)
}

/** How many addresses of a family a namespace has from a pool, or keeps and their time is not over. */
export function countOf(
  holds: ReadonlyMap<string, Hold>,
  pool: string,
  namespace: string,
  family: 4 | 6,
  now: number,
): number {
  return [...holds.values()].filter(hold => countsFor(hold, pool, namespace, family, now)).length
}

export function countsFor(
  hold: Hold | undefined,
  pool: string,
  namespace: string,
  family: 4 | 6,
  now: number,
): boolean {
  return (
    hold !== undefined &&
    hold.state !== 'cooling' &&
    !isOver(hold, now) &&
    hold.pool === pool &&
    hold.workload?.namespace === namespace &&
    familyOf(hold.place) === family
  )
}

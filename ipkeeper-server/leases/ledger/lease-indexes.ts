import type { Family } from '../../../shared/net/address.ts'
import { inOrderOf } from '../../ipam/pools/block-affinity.ts'
import { attachmentKey, type LeaseRecord, type Workload } from '../../ipam/records/records.ts'
import { retains } from '../../ipam/records/retention.ts'
import { bearsGeneratedName, isKnown } from '../../ipam/records/workload.ts'
import { CoolingLeases } from './cooling-leases.ts'
import { ExpiryQueue } from './expiry-queue.ts'
import { KeyIndex, keepIn, PropertyCounts } from './key-index.ts'

/** A pod or a workload by its name. */
export const nameIn = (namespace: string, name: string): string => JSON.stringify([namespace, name])

const counterOf = (pool: string, namespace: string, family: Family): string =>
  JSON.stringify([pool, namespace, family])

/** Where a lease counts for its namespace; undefined where it has none. */
const counterOfLease = ({ pool, holder, address }: LeaseRecord): string | undefined =>
  holder.kind === 'pod' ? counterOf(pool, holder.namespace, address.includes(':') ? 6 : 4) : undefined

/** Whether a pod of the workload may be given it: kept, or as good as kept once its sandbox is proved gone. */
function isKeptFor({ state, retain, holder }: LeaseRecord, workload: Workload): boolean {
  if (state === 'held') return true
  const isKeptAfterwards = state === 'bound' && retains(retain)
  return isKeptAfterwards && holder.kind === 'pod' && bearsGeneratedName(holder.name, workload)
}

/** Whether it is kept while an owner exists that can be asked for. */
export function isKeptForOwner({ state, retain, workload }: LeaseRecord): boolean {
  return state === 'held' && retain === 'while-owner-exists' && workload !== undefined && isKnown(workload)
}

/** Whether it is in use and reached through its node. */
export function isRouted({ state, carried }: LeaseRecord): boolean {
  return state === 'bound' && carried === 'routed'
}

/** Keys of leases by what plans and tasks ask for, and counts of leases. */
export class LeaseIndexes {
  readonly #isShared: boolean
  readonly byAttachment = new KeyIndex()
  readonly byMac = new KeyIndex()
  readonly #keptByWorkload = new KeyIndex()
  readonly keptForOwners = new Set<string>()
  /** Of any node. */
  readonly routed = new Set<string>()
  readonly #coolingByPool = new Map<string, CoolingLeases>()
  readonly #liveByPool = new PropertyCounts()
  /** By pool, namespace and family. */
  readonly #liveByNamespace = new PropertyCounts()
  /** How many addresses each node has in use, where nodes share the store. */
  readonly boundByNode = new PropertyCounts()
  /** How many leases in any state bear the name of each node. */
  readonly byNode = new PropertyCounts()
  readonly expiries = new ExpiryQueue()
  /** Kept addresses whose time is over; their records wait to be deleted. */
  readonly expired = new Set<string>()

  constructor(isShared: boolean) {
    this.#isShared = isShared
  }

  /** A lease came, or went. */
  index(key: string, lease: LeaseRecord, present: boolean): void {
    const step = present ? 1 : -1
    if (lease.attachment) this.byAttachment.keep(attachmentKey(lease.attachment), key, present)
    if (lease.mac !== null) this.byMac.keep(lease.mac, key, present)
    if (lease.workload && isKeptFor(lease, lease.workload))
      this.#keptByWorkload.keep(nameIn(lease.workload.namespace, lease.workload.name), key, present)
    if (isKeptForOwner(lease)) keepIn(this.keptForOwners, key, present)
    if (isRouted(lease)) keepIn(this.routed, key, present)
    if (lease.state === 'cooling') this.#indexCooling(key, lease, present)
    else this.#countLive(lease, step)
    this.byNode.count(lease.node, step)
    if (this.#isShared && lease.state === 'bound') this.boundByNode.count(lease.node, step)
    // What is outdated in the queue is found out when its time comes.
    if (present && lease.until !== null) this.expiries.add(key, lease.until)
  }

  #indexCooling(key: string, lease: LeaseRecord, present: boolean): void {
    const cooling = this.#coolingByPool.get(lease.pool) ?? new CoolingLeases()
    if (present) cooling.add(key, lease)
    else cooling.delete(key)
    if (cooling.size === 0) this.#coolingByPool.delete(lease.pool)
    else this.#coolingByPool.set(lease.pool, cooling)
  }

  #countLive(lease: LeaseRecord, step: 1 | -1): void {
    this.#liveByPool.count(lease.pool, step)
    const counter = counterOfLease(lease)
    if (counter !== undefined) this.#liveByNamespace.count(counter, step)
  }

  keptFor(namespace: string, workload: string): Iterable<string> {
    return this.#keptByWorkload.get(nameIn(namespace, workload))
  }

  /** Those of a pool that are cooling or remembered, the longest released first. */
  *cooling(pool: string): Iterable<string> {
    for (const { key } of this.#coolingByPool.get(pool)?.inOrder() ?? []) yield key
  }

  /** Some of them, in the order in which a node takes them where others choose as well. */
  coolingInOrderOf(node: string, pool: string): readonly string[] {
    const cooling = this.#coolingByPool.get(pool)
    return cooling ? inOrderOf(node, cooling.inOrder(), cooling.size) : []
  }

  coolingCount(pool: string): number {
    return this.#coolingByPool.get(pool)?.size ?? 0
  }

  coolingPools(): Iterable<string> {
    return this.#coolingByPool.keys()
  }

  /** Keys of those that end at some moment: that wait for it, cool down or wait to be deleted. The queue is empty afterwards. */
  takeAllThatEnd(): ReadonlySet<string> {
    const cooling = [...this.coolingPools()].flatMap(pool => [...this.cooling(pool)])
    return new Set([...cooling, ...this.expiries.clear(), ...this.expired])
  }

  hasLive(pool: string): boolean {
    return this.#liveByPool.get(pool) > 0
  }

  /** @param leasesOver those whose time is over, though they still count */
  liveIn(
    { pool, namespace, family }: Readonly<{ pool: string; namespace: string; family: Family }>,
    leasesOver: () => Iterable<LeaseRecord>,
  ): number {
    const counter = counterOf(pool, namespace, family)
    let count = this.#liveByNamespace.get(counter)
    for (const lease of count > 0 ? leasesOver() : [])
      if (lease.state === 'held' && counterOfLease(lease) === counter) count--
    return count
  }
}

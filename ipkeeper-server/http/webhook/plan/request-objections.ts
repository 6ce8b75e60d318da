import { formatAddress, type Address } from '../../../../shared/net/address.ts'
import { Problem } from '../../../../shared/problem/problem.ts'
import type { AddressBook } from '../../../ipam/pools/address-book.ts'
import { candidateAt, candidatesOf, type UsableRun } from '../../../ipam/request/candidates.ts'
import { isFree } from '../../../ipam/choose/choose-address.ts'
import {
  candidateProblem,
  claimProblem,
  requestProblem,
  type TakenAddress,
} from '../../../ipam/choose/claim-problems.ts'
import { unknownPool } from '../../../ipam/choose/offers.ts'
import { usableCandidates } from '../../../ipam/choose/plan-candidates.ts'
import type { StringMap } from '../../../ipam/records/pod-facts.ts'
import { poolRefusal } from '../../../ipam/pools/pool-rules.ts'
import type { PoolRules } from '../../../ipam/pools/pool-settings.ts'
import { formatRangeSet, rangeOf, type Pool, type RangeSet } from '../../../ipam/pools/pool.ts'
import { holderKey, isReservedFor, type Holder, type LeaseRecord } from '../../../ipam/records/records.ts'
import type { AddressRequest, CandidateList, PodRequest } from '../../../ipam/request/request.ts'
import { tooFewAddresses, type PodsAtOnce } from '../../../ipam/choose/too-few-addresses.ts'
import { ordinalOf, sameWorkload, workloadOf } from '../../../ipam/records/workload.ts'
import { firstInterface } from '../../../kubernetes/annotations/own-keys.ts'
import { readPodRequest } from '../../../kubernetes/annotations/read-pod-request.ts'
import type { DialectName } from '../../../kubernetes/dialects/dialects.ts'
import type { BroughtPods } from './brought-pods.ts'
import type { KnownPool } from './known-pools.ts'

/** Something that speaks against an object. `weight` grows as it gets worse; the same thing has the same key. */
export interface Objection {
  readonly key: string
  readonly weight: bigint
  readonly problem: Problem
  /** Whether an ADD may see it otherwise, which knows the ranges of its network. */
  readonly doubtful?: true
}

/** What an object is judged by. */
export interface Ground {
  readonly book: AddressBook
  readonly pools: readonly KnownPool[]
  /** Whether these are all: not where the ranges of a network come with an ADD only. */
  readonly complete: boolean
  readonly dialects: ReadonlySet<DialectName>
  /** Of the object's namespace; undefined while they are not known. */
  readonly namespaceLabels: StringMap | undefined
  /** How many addresses each range set of a pool had to give a moment ago, by the name of the pool. */
  readonly free: ReadonlyMap<string, readonly bigint[]>
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Pods of a StatefulSet, and candidates of a list, that are looked at one by one. */
const mostLookedAt = 1_000

/** Interfaces that annotations speak of. */
function interfacesOf(annotations: StringMap): ReadonlySet<string> {
  const own = Object.keys(annotations)
    .filter(key => key.startsWith('ipkeeper.io/'))
    .map(key => key.slice(key.indexOf('.', 'ipkeeper.io/'.length) + 1 || key.length))
    .filter(name => name !== '')
  return new Set([firstInterface, ...own])
}

/** What is said by throwing. */
function problemBy<T>(work: () => T): { readonly value: T } | { readonly problem: Problem } {
  try {
    return { value: work() }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { problem: error }
  }
}

/** By which a pod chooses another network for its first interface, from a definition of Multus. */
const defaultNetworkKey = 'v1.multus-cni.io/default-network'

/**
 * What is said of an address or pool that is not known. `doubt`: of an interface whose network stands in no file of the
 * runtime, but in a definition of Multus, say, whose ranges come with its first ADD.
 */
type Unknown = 'refuse' | 'doubt' | 'silence'

const doubtHint =
  'compare it with the network that the pod chooses: ipkeeperctl lint NETWORKS.yaml POD.yaml; ranges of a network are known from its first pod on'

/** The same, as far as it is known here. */
function doubted({ code, message, details }: Problem): Objection {
  const problem = new Problem(code, `${message}, as far as is known`, { details, hint: doubtHint })
  return { key: message, weight: 1n, problem, doubtful: true }
}

const plain = (problem: Problem): Objection => ({ key: problem.message, weight: 1n, problem })

/** As far as they can be told before the pod has a node. */
function knownRules(
  { namespaces, namespaceSelector, allowMac }: PoolRules,
  namespaceLabels: StringMap | undefined,
): PoolRules {
  return {
    ...(namespaces && { namespaces }),
    ...(namespaceSelector && namespaceLabels && { namespaceSelector }),
    ...(allowMac !== undefined && { allowMac }),
  }
}

/** One object's pods before what is known. */
class Examination {
  readonly #pods: BroughtPods
  readonly #ground: Ground
  readonly objections: Objection[] = []

  constructor(pods: BroughtPods, ground: Ground) {
    this.#pods = pods
    this.#ground = ground
  }

  object(problem: Problem | undefined): void {
    if (problem) this.objections.push(plain(problem))
  }

  /** What is known here speaks against it, which need not be all. */
  objectToUnknown(problem: Problem, unknown: Unknown): void {
    if (unknown === 'silence') return
    this.objections.push(unknown === 'doubt' ? doubted(problem) : plain(problem))
  }

  #unknownOf(ifname: string): Unknown {
    if (ifname !== firstInterface || Object.hasOwn(this.#pods.annotations, defaultNetworkKey)) return 'doubt'
    return this.#ground.complete ? 'refuse' : 'silence'
  }

  /** Everything that one interface is asked for. `before`: how many pods there were to be until now. */
  examine(ifname: string, before: PodsAtOnce | undefined): void {
    const { annotations } = this.#pods
    const { dialects } = this.#ground
    const read = problemBy(() =>
      readPodRequest({ podAnnotations: annotations, namespace: undefined, ifname, dialects }),
    )
    if ('problem' in read) {
      this.object(read.problem)
      return
    }
    const request = read.value
    const unknown = this.#unknownOf(ifname)
    const pools = this.#poolsFor(request, unknown)
    if (!pools) return
    // Named pools stand for those of the network, and are known.
    const outside = request.pools.length > 0 && this.#ground.complete ? 'refuse' : unknown
    for (const asked of request.addresses) this.#examineAddress(pools, asked, ifname, outside)
    for (const list of request.candidates) this.#examineList(pools, list, ifname, outside)
    this.#examineNamedPools(request, pools)
    this.#countNamed(request, pools, ifname)
    if (request.addresses.length + request.candidates.length === 0) this.#countFree(request, pools, before)
  }

  /** Pools that may serve the request; undefined when one that it names is none, or none for this pod. */
  #poolsFor(request: PodRequest, unknown: Unknown): readonly KnownPool[] | undefined {
    const { pools } = this.#ground
    if (request.pools.length === 0) {
      const refusals = unknown === 'refuse' ? pools.map(known => this.#refusalOf(known, request)) : []
      // Of nodes nothing is known yet, and a namespace may get labels; a pod that asks for a MAC goes on asking.
      if (!refusals.includes(undefined))
        this.object(refusals.find(problem => problem?.code === 'IPK_MAC_REFUSED'))
      return pools
    }
    const found: KnownPool[] = []
    for (const named of request.pools) {
      const known = pools.find(({ pool }) => pool.name === named.name)
      if (!known) {
        this.objectToUnknown(
          unknownPool(
            named,
            pools.map(({ pool }) => pool.name),
          ),
          unknown,
        )
        return undefined
      }
      this.object(this.#refusalOf(known, request))
      found.push(known)
    }
    return found
  }

  #refusalOf({ pool, rules }: KnownPool, { macSource }: PodRequest): Problem | undefined {
    const { namespaceLabels } = this.#ground
    return poolRefusal(
      pool.name,
      {
        ...knownRules(rules, namespaceLabels),
        ...(rules.besides && { besides: knownRules(rules.besides, namespaceLabels) }),
      },
      {
        namespace: this.#pods.namespace,
        namespaceLabels,
        ...{ node: '', nodeLabels: undefined, sharedWithOtherNodes: false },
        asksForMac: macSource,
      },
    )
  }

  /** Objects where the pod cannot have an address from any of the pools. One that can give it suffices. */
  #examineAddress(
    pools: readonly KnownPool[],
    asked: AddressRequest,
    ifname: string,
    outside: Unknown,
  ): void {
    const problems: Problem[] = []
    for (const { pool } of pools) {
      const rangeSet = pool.rangeSets.findIndex(set => rangeOf(set, asked.address))
      const range = rangeOf(pool.rangeSets[rangeSet] ?? [], asked.address)
      if (!range) continue
      const problem =
        requestProblem.unusable(range, rangeSet, asked) ??
        this.#holderProblem({ pool, rangeSet }, asked, this.#pods.holder(ifname))
      if (!problem) return
      problems.push(problem)
    }
    const [first] = problems
    if (first) this.object(first)
    else if (pools.length > 0) {
      const known = pools.map(({ pool }) => pool)
      this.objectToUnknown(requestProblem.outside(known, [asked], asked), outside)
    }
  }

  #holderProblem(
    { pool, rangeSet }: { readonly pool: KnownPool['pool']; readonly rangeSet: number },
    asked: AddressRequest,
    holder: Holder,
  ): Problem | undefined {
    const { owner } = this.#pods
    const taken = this.#takenBy(pool, asked.address, holder)
    if (taken?.reservation) return claimProblem.reserved(pool, rangeSet, asked, taken.reservation)
    if (taken && isDraining(taken)) return claimProblem.draining(pool, rangeSet, asked)
    const workload = workloadOf(holder, null, owner)
    return taken?.lease && claimProblem.held({ pool, rangeSet, asked }, taken.lease, { holder, workload })
  }

  /**
   * Who is in the way of the pod: never it, and never another pod of its workload, which may be about to go. The same two get
   * an address of a range that drains, if they had it last (choose/draining.ts).
   */
  #takenBy(
    { segment, rangeSets }: KnownPool['pool'],
    address: Address,
    holder: Holder,
  ): TakenAddress | undefined {
    if (this.#pods.controlled) return undefined
    const { book, now } = this.#ground
    const key = { segment, address: formatAddress(address) }
    const workload = workloadOf(holder, null, this.#pods.owner)
    const reservation = book.reservation(key)
    if (reservation && !isReservedFor(reservation, holder, workload)) return { address, reservation }
    // It may be about to be its, also where it drains.
    if (reservation) return undefined
    const lease = book.lease(key)
    if (lease && (sameWorkload(lease.workload, workload) || isSamePod(lease, holder))) return undefined
    if (lease && !isFree(lease, now)) return { address, lease }
    const drains = rangeOf(rangeSets.flat(), address)?.draining === true
    return drains ? { address, drains } : undefined
  }

  #examineList(pools: readonly KnownPool[], list: CandidateList, ifname: string, outside: Unknown): void {
    const first: Address = { family: list.family, value: list.runs[0]?.first ?? 0n }
    for (const { pool } of pools) {
      const rangeSet = pool.rangeSets.findIndex(set => rangeOf(set, first))
      const set = pool.rangeSets[rangeSet]
      if (!set) continue
      const usable = problemBy(() => usableCandidates({ pool, set, rangeSet }, list))
      if ('problem' in usable) this.object(usable.problem)
      else if (ordinalOf(this.#pods.holder(ifname), this.#pods.owner))
        this.#examineOrdinals(pool, list, usable.value, ifname)
      else this.#examineCandidates(pool, list, usable.value, ifname)
      return
    }
    if (pools.length === 0) return
    const { source } = list
    this.objectToUnknown(
      requestProblem.outsideAll(
        pools.map(({ pool }) => pool),
        { address: first, source },
      ),
      outside,
    )
  }

  /** Each pod of a StatefulSet has a candidate of its own, and so has a bare pod that is named like one. */
  #examineOrdinals(
    pool: KnownPool['pool'],
    list: CandidateList,
    { runs, count }: { readonly runs: readonly UsableRun[]; readonly count: bigint },
    ifname: string,
  ): void {
    const { owner, atOnce, controlled } = this.#pods
    // Where its list begins only its StatefulSet says, which was looked at itself.
    if (controlled) return
    const indexes = owner
      ? Array.from({ length: Math.min(atOnce?.replicas ?? 1, mostLookedAt) }, (_, index) => index)
      : [ordinalOf(this.#pods.holder(ifname), owner)?.index ?? 0]
    const last = owner ? (atOnce?.replicas ?? 1) - 1 : (indexes[0] ?? 0)
    if (BigInt(last) >= count) {
      const holder = this.#pods.holder(ifname, last)
      const place = ordinalOf(holder, owner) ?? { ordinal: last, index: last }
      this.objections.push({
        key: `beyond ${list.source}`,
        weight: BigInt(last) - count,
        problem: candidateProblem.beyond({ holder, owner }, list, place, count),
      })
    }
    for (const index of indexes) {
      const candidate = candidateAt(list.family, runs, BigInt(index))
      if (!candidate) return
      const { address, prefixLength } = candidate
      const prefix = prefixLength !== undefined && { prefixLength }
      const asked: AddressRequest = { address, ...prefix, source: list.source, channel: 'annotation' }
      const rangeSet = pool.rangeSets.findIndex(set => rangeOf(set, address))
      this.object(this.#holderProblem({ pool, rangeSet }, asked, this.#pods.holder(ifname, index)))
    }
  }

  #examineCandidates(
    pool: KnownPool['pool'],
    list: CandidateList,
    { runs, count }: { readonly runs: readonly UsableRun[]; readonly count: bigint },
    ifname: string,
  ): void {
    if (count > BigInt(mostLookedAt)) return
    const holder = this.#pods.holder(ifname)
    const taken: TakenAddress[] = []
    for (const { address } of candidatesOf(list.family, runs)) {
      const obstacle = this.#takenBy(pool, address, holder)
      if (!obstacle) return
      taken.push(obstacle)
    }
    const [first] = taken
    if (first && taken.every(isDraining)) {
      const rangeSet = pool.rangeSets.findIndex(set => rangeOf(set, first.address))
      const asked = { address: first.address, source: list.source, channel: 'annotation' } as const
      this.object(claimProblem.draining(pool, rangeSet, asked))
      return
    }
    this.object(candidateProblem.taken(list, taken, workloadOf(holder, null, this.#pods.owner)))
  }

  /** A pod needs an address of each set of a pool that it names, so one that drains suffices to keep it out. */
  #examineNamedPools({ pools: named, addresses, candidates }: PodRequest, pools: readonly KnownPool[]): void {
    const { atOnce, controlled } = this.#pods
    if (controlled) return
    const asked = new Set([
      ...addresses.map(({ address }) => address.family),
      ...candidates.map(({ family }) => family),
    ])
    for (const { name, source } of named) {
      const pool = pools.find(known => known.pool.name === name)?.pool
      const set = pool && drainedSet(pool)
      if (!set || set.some(({ family }) => asked.has(family))) continue
      const what = pool.rangeSets.every(isDrainedSet) ? 'which is' : `in which ${formatRangeSet(set)} is`
      this.objections.push({
        key: `drains ${source}`,
        weight: BigInt(atOnce ? atOnce.replicas + atOnce.surge : 1),
        problem: new Problem(
          'IPK_POOL_DRAINING',
          `${source} names pool ${name}, ${what} draining: no new pod gets an address of it`,
        ),
      })
    }
  }

  #countNamed(request: PodRequest, pools: readonly KnownPool[], ifname: string): void {
    const { atOnce, owner } = this.#pods
    if (!atOnce) return
    const asked = { holder: this.#pods.holder(ifname), owner, pod: request, inline: undefined }
    for (const { source, short, text } of tooFewAddresses(asked, { pools }, atOnce)) {
      this.objections.push({
        key: `few ${source}`,
        weight: short,
        problem: new Problem('IPK_TOO_FEW_ADDRESSES', text),
      })
    }
  }

  /** Whether the pools that are named have enough left for the pods that come on top. */
  #countFree(
    { pools: named }: PodRequest,
    pools: readonly KnownPool[],
    before: PodsAtOnce | undefined,
  ): void {
    const { atOnce } = this.#pods
    if (!atOnce) return
    const most = atOnce.replicas + atOnce.surge
    const more = most - (before ? before.replicas + before.surge : 0)
    for (const { name, source } of named) {
      const known = pools.find(({ pool }) => pool.name === name)
      const free = this.#ground.free.get(name)
      if (!known || !free || drainedSet(known.pool)) continue
      const least = free.reduce((a, b) => (b < a ? b : a), BigInt(Number.MAX_SAFE_INTEGER))
      if (BigInt(more) <= least) continue
      const addresses = `${least} free ${least === 1n ? 'address' : 'addresses'}`
      this.objections.push({
        key: `free ${source}`,
        weight: BigInt(most),
        problem: new Problem(
          'IPK_TOO_FEW_ADDRESSES',
          `${source} names pool ${name}, which has ${addresses} for up to ${more} ${more === most ? '' : 'more '}pods at once (replicas ${atOnce.replicas}, maxSurge ${atOnce.surge})`,
          {
            hint: 'enlarge the pool, free addresses of it (see: ipkeeperctl pools, ipkeeperctl leases), or ask for fewer pods',
          },
        ),
      })
    }
  }
}

const isDraining = (taken: TakenAddress): boolean => 'drains' in taken

const isDrainedSet = (set: RangeSet): boolean => set.every(({ draining }) => draining)

/** The first set of a pool that gives no address to a new pod. */
const drainedSet = ({ rangeSets }: Pick<Pool, 'rangeSets'>): RangeSet | undefined =>
  rangeSets.find(isDrainedSet)

/** Whether a lease is the pod's own, on whichever network: admission is not told on which one the pod will be. */
function isSamePod({ holder }: LeaseRecord, other: Holder): boolean {
  return (
    holder.kind === 'pod' &&
    other.kind === 'pod' &&
    holderKey({ ...holder, network: '' }) === holderKey({ ...other, network: '' })
  )
}

/**
 * What speaks against the pods of an object, in the words that an ADD of one of them would be refused with.
 *
 * @param before how many there were to be until now; undefined where there were none
 */
export function objectionsTo(
  pods: BroughtPods,
  ground: Ground,
  before: PodsAtOnce | undefined,
): readonly Objection[] {
  const examination = new Examination(pods, ground)
  for (const ifname of interfacesOf(pods.annotations)) examination.examine(ifname, before)
  const seen = new Set<string>()
  return examination.objections.filter(({ key }) => !seen.has(key) && seen.add(key))
}

import { formatAddress } from '../../../shared/net/address.ts'
import type { CniResult, ResultDns, ResultRoute } from '../../../shared/cni/result.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { AddContext, Trace } from '../choose/add-context.ts'
import { inheritable, openReservations } from '../choose/choose-address.ts'
import { claimProblem } from '../choose/claim-problems.ts'
import { canGive, findOffers, type Offer } from '../choose/offers.ts'
import { planGrants, type Grant } from '../choose/plan-grants.ts'
import { checkMac } from '../choose/plan-mac.ts'
import { planTakeover } from '../choose/plan-takeover.ts'
import { checkQuota } from '../choose/pool-quota.ts'
import type { AddressBook } from '../pools/address-book.ts'
import { findPool, policyOf, type PoolBook } from '../pools/pool-settings.ts'
import { carriage, type MainConfig } from '../request/main-config.ts'
import { newAttachment, newLease, ofSandbox, undoEntry } from '../records/new-records.ts'
import {
  leaseKey,
  mustStay,
  type AttachmentRecord,
  type Change,
  type LeaseRecord,
  type Write,
} from '../records/records.ts'
import { reservedRetention } from '../records/reservation-owner.ts'
import { describeWorkload, workloadOf } from '../records/workload.ts'
import { requestedMac, type AddRequest, type AddTerms } from '../request/add-request.ts'
import { checkGiven, planDelegation, type Delegation } from './plan-delegation.ts'
import { planNetworkPool } from './plan-network-pool.ts'
import { forgetOldest, releasedLease } from './plan-release.ts'
import { dropFormerHolders, writeAttachment, writeHolder, writeLease } from './record-writes.ts'

/** The addresses, or the type of the IPAM plugin that is to give them. */
export type AddAnswer =
  | { readonly kind: 'result'; readonly result: CniResult }
  | { readonly kind: 'delegate'; readonly type: string }

export interface AddPlan {
  readonly change: Change
  /** `answered` of the attachment after the change: by it an undo knows that no later ADD was answered from it. */
  readonly generation: number
  readonly answer: AddAnswer
  /** The answer of an ADD that was sent again. */
  readonly repeated?: true
  /** One line per decision, for the log. */
  readonly reasons: readonly string[]
}

/** What an ADD gets, or the problem that the runtime is to show; and every step on the way, in their order. */
export type AddDecision = { readonly trace: Trace } & (
  | { readonly plan: AddPlan; readonly problem?: undefined }
  | { readonly plan?: undefined; readonly problem: Problem }
)

/** planAdd with its reasons, also where it ends in a problem: what `ipkeeperctl explain` shows. */
export function decideAdd(book: AddressBook, request: AddRequest, terms: AddTerms): AddDecision {
  const trace: Trace = []
  try {
    return { trace, plan: planAdd(book, request, terms, trace) }
  } catch (error) {
    if (error instanceof Problem) return { trace, problem: error }
    throw error
  }
}

/**
 * Decides one ADD. Pure: reads the book and the request, returns what to write and what to answer, or throws the
 * problem that the runtime is to show. Nothing is changed in either case. Each step is noted in `trace`, where somebody
 * wants to read it: without one, no text is made.
 *
 * Invariants (DESIGN.md, rules 2, 3 and 5): a request by name gets that address or an error; a lease of another
 * holder is never overwritten while bound, nor while held for somebody who may come back; the holder's older attachment
 * gives its addresses up only to the same pod, or when it is proved dead.
 */
export function planAdd(
  book: AddressBook,
  request: AddRequest,
  terms: AddTerms,
  trace: Trace | undefined,
): AddPlan {
  const existing = book.attachment(request.key)
  if (existing && terms.liveness(existing) !== 'dead') {
    if (request.invocationId === null || existing.invocationId !== request.invocationId) {
      throw claimProblem.alreadyAdded(existing, book.leasesOf(request.key))
    }
    const leases = book.leasesOf(request.key)
    if (leases.length === 0 && existing.delegatedTo === undefined)
      throw claimProblem.alreadyAdded(existing, leases)
    if (existing.delegatedTo !== undefined) checkGiven(book, request, terms)
    return repeatAnswer(request, existing, leases, terms.pools)
  }
  const workload = workloadOf(request.holder, request.podUid, request.owner)
  if (workload) {
    const known = request.owner === undefined ? "as the pod's name says" : 'as the API says'
    trace?.push({ about: 'workload', subject: describeWorkload(workload), verdict: 'noted', text: known })
  }
  const offers = findOffers(request, terms.pools, trace)
  const takeover = planTakeover(book, request, terms)
  for (const text of takeover.reasons)
    trace?.push({ about: 'sandbox', subject: request.holder.ifname, verdict: 'noted', text })
  const context: AddContext = { book, request, terms, workload, takeover, trace }
  const delegation = planDelegation(context, offers)
  if (delegation) {
    trace?.push({ about: 'pool', subject: delegation.type, verdict: 'chosen', text: delegation.reason })
    return assemble(context, { grants: [], macGuards: [], delegation })
  }
  return firstServed(ownFirst(context, offers), trace, offer => {
    const grants = planGrants(context, offer)
    for (const { address, reason } of grants)
      trace?.push({ about: 'address', subject: formatAddress(address), verdict: 'chosen', text: reason })
    return assemble(context, { grants, macGuards: checkMac(context, grants), delegation: undefined })
  })
}

/**
 * Offers with something that the pod has come first, then those with something promised to it, then those with something
 * kept for its workload; else their order stays.
 */
function ownFirst(context: AddContext, offers: readonly Offer[]): readonly Offer[] {
  if (offers.length < 2) return offers
  const claims = [context.takeover.movable, openReservations(context), inheritable(context)]
  const rank = (offer: Offer): number => {
    const strongest = claims.findIndex(keys => canGive(offer, keys))
    return strongest < 0 ? claims.length : strongest
  }
  return [...offers].sort((a, b) => rank(a) - rank(b))
}

/** The plan from the first offer that is neither full nor, for this namespace, used up; else the first one's problem. */
function firstServed(
  offers: readonly Offer[],
  trace: Trace | undefined,
  plan: (offer: Offer) => AddPlan,
): AddPlan {
  let first: Problem | undefined
  for (const offer of offers) {
    try {
      return plan(offer)
    } catch (error) {
      if (
        !(error instanceof Problem) ||
        !['IPK_POOL_FULL', 'IPK_POOL_DRAINING', 'IPK_QUOTA'].includes(error.code)
      )
        throw error
      const subject = [...new Set(offer.map(({ pool }) => pool.name))].join(',')
      trace?.push({ about: 'pool', subject, verdict: 'dropped', text: error.message, code: error.code })
      first ??= error
    }
  }
  // A network that counts on the daemon's pools is refused before there is a plan; the last pool went in between.
  throw (
    first ?? new Problem('IPK_POOL_UNKNOWN', 'the network names no pool, and the daemon has none any more')
  )
}

/** For an ADD that was sent again. The new generation takes the attachment out of reach of the first sending's undo. */
function repeatAnswer(
  request: AddRequest,
  existing: AttachmentRecord,
  leases: readonly LeaseRecord[],
  pools: PoolBook,
): AddPlan {
  const generation = existing.generation + 1
  const given = request.given.length > 0 && { given: request.given }
  const record = { ...existing, generation, answered: generation, ...given }
  return {
    change: [writeAttachment(existing, existing, record)],
    generation,
    repeated: true,
    answer: answerOf(request, leases, pools, existing.delegatedTo),
    reasons: ['the same ADD was answered before: answer repeated'],
  }
}

/** The answer of an ADD: one address of each range set, in their order; or who is to give them. */
function answerOf(
  request: AddRequest,
  leases: readonly LeaseRecord[],
  pools: PoolBook,
  delegatedTo: string | undefined,
): AddAnswer {
  if (delegatedTo !== undefined) return { kind: 'delegate', type: delegatedTo }
  const ips = leases.map(lease => ({
    address: `${lease.address}/${lease.prefixLength}`,
    gateway: lease.gateway,
  }))
  return { kind: 'result', result: { ips, ...networkOf(request, leases, pools) } }
}

/**
 * Routes and DNS: those of the network, and what its pools add. The MTU of a pool goes to its routes: in the IPAM role
 * the interface is the parent plugin's.
 */
function networkOf(
  request: AddRequest,
  leases: readonly LeaseRecord[],
  pools: PoolBook,
): { readonly routes: readonly ResultRoute[]; readonly dns: ResultDns } {
  const networks = [...new Set(leases.map(({ pool }) => pool))].flatMap(
    name => findPool(pools, name)?.network ?? [],
  )
  const routes = [...request.routes]
  for (const { routes: own = [], mtu } of networks) {
    for (const route of own) {
      if (routes.some(({ dst, gw, table }) => dst === route.dst && gw === route.gw && table === route.table))
        continue
      routes.push({ ...(mtu !== undefined && { mtu }), ...route })
    }
  }
  const [dns = {}] = [request.dns, ...networks.flatMap(({ dns: own }) => own ?? [])].filter(
    candidate => Object.keys(candidate).length > 0,
  )
  return { routes, dns }
}

function linkOf(main: MainConfig | undefined): Pick<LeaseRecord, 'carried' | 'ownLink'> {
  const carried = main && carriage(main)
  return { ...(carried && { carried }), ...(main?.mode === 'ptp' && { ownLink: true }) }
}

/** What an ADD gives: addresses with the guards of their MAC, or what a fallback is to give. */
interface Decision {
  readonly grants: readonly Grant[]
  readonly macGuards: readonly Write[]
  readonly delegation: Delegation | undefined
}

function bindLease(context: AddContext, { slot, address, range, named, source }: Grant): LeaseRecord {
  const { book, request, terms, workload } = context
  const { pool, index } = slot
  const { key, holder, podUid, node, pod, main } = request
  const at = { segment: pool.segment, address: formatAddress(address) }
  const place = {
    ...{ ...at, pool: pool.name, rangeSet: index, prefixLength: range.subnet.prefixLength },
    gateway: formatAddress(range.gateway),
  }
  const retain =
    pod.retain ??
    reservedRetention(book.reservation(at), holder, workload) ??
    policyOf(terms.pools, pool.name).retention
  return newLease(book.lease(at), place, {
    ...{ holder, podUid, node, workload, attachment: key, named, source, retain },
    mac: requestedMac(request)?.mac ?? null,
    ...linkOf(main),
    since: terms.now,
  })
}

/**
 * What the holder had and no longer wants, because its annotation or the ranges changed, is freed; but what an older sandbox
 * that may still live has, it keeps until its own DEL.
 */
function freedLeases(
  { book, request, terms, takeover }: AddContext,
  bound: readonly LeaseRecord[],
): readonly LeaseRecord[] {
  const granted = new Set(bound.map(leaseKey))
  const left = new Map(
    [...takeover.movable, ...book.leasesOf(request.key)].map(lease => [leaseKey(lease), lease]),
  )
  return [...left.values()]
    .filter(lease => !granted.has(leaseKey(lease)) && !takeover.inUse(lease))
    .map(lease => releasedLease({ ...lease, retain: 'release' }, terms))
}

/**
 * Why the pod has an address no more that it had or that was kept for it: for the log, its events and `explain`. Who finds
 * another address in place of the known one has to be told.
 */
function whyFreed(lease: LeaseRecord, grants: readonly Grant[]): string {
  const had = lease.state === 'held' ? 'kept for it until now' : 'of its former sandbox'
  const canHaveIt = canGive(
    grants.map(({ slot }) => slot),
    [lease],
  )
  const pools = [...new Set(grants.map(({ slot }) => slot.pool.name))].join(', ')
  const outside = pools === '' ? 'the fallback gives its addresses' : `no range of ${pools} has it`
  return `${had}, released: ${canHaveIt ? 'it has another one' : outside}`
}

/** The holder and the attachment that have the leases from now on; the attachment knows how its ADD is undone. */
function writeOwners(
  { book, request, terms }: AddContext,
  {
    bound,
    leases,
    delegation,
  }: Pick<Decision, 'delegation'> & {
    readonly bound: readonly LeaseRecord[]
    readonly leases: readonly LeaseRecord[]
  },
): Write[] {
  const { key, holder, podUid, node } = request
  const existing = book.attachment(key)
  const present = book.holder(holder)
  const since = terms.now
  const record = newAttachment((existing?.generation ?? 0) + 1, key, {
    ...request,
    since,
    ...(delegation && { delegatedTo: delegation.type }),
    undo: {
      leases: leases.map(lease => undoEntry(lease, book.lease(lease) ?? null)),
      attachment: present?.attachment ?? null,
    },
  })
  return [
    writeHolder(present, holder, ofSandbox({ ...key, node, podUid, since }), bound),
    writeAttachment(existing, key, record),
  ]
}

/** Turns a decision into writes and an answer. */
function assemble(context: AddContext, { grants, macGuards, delegation }: Decision): AddPlan {
  const { book, request, terms, takeover, trace } = context
  const bound = grants.map(grant => bindLease(context, grant))
  const freed = freedLeases(context, bound)
  const givenUp = freed.map(lease => ({
    subject: lease.address,
    text: whyFreed(book.lease(lease) ?? lease, grants),
  }))
  for (const why of givenUp) trace?.push({ about: 'address', verdict: 'dropped', ...why })
  const reasons = [
    ...takeover.reasons,
    ...grants.map(grant => `${formatAddress(grant.address)}: ${grant.reason}`),
    ...(delegation ? [delegation.reason] : []),
    ...givenUp.map(({ subject, text }) => `${subject}: ${text}`),
  ]
  const guards = checkQuota(context, grants, freed)
  // Of a reservation that was made on another node in this moment, or not heard of for long, only the store can tell.
  const unreserved = book.isShared ? bound.filter(record => !book.reservation(record)) : []
  const leases = [...bound, ...freed]
  const { inline } = request
  const usesInline =
    inline !== undefined && (delegation !== undefined || grants.some(({ slot }) => slot.pool === inline))
  const change: Change = [
    ...(usesInline ? planNetworkPool(book, inline) : []),
    ...leases.map(record => writeLease(book, record)),
    ...forgetOldest(book, leases),
    ...dropFormerHolders(book, bound),
    ...guards,
    ...macGuards,
    ...unreserved.map(record => mustStay('reservation', leaseKey(record), undefined)),
    ...writeOwners(context, { bound, leases, delegation }),
  ]
  const generation = (book.attachment(request.key)?.generation ?? 0) + 1
  return { change, generation, answer: answerOf(request, bound, terms.pools, delegation?.type), reasons }
}

import { formatAddress } from '../../shared/net/address.ts'
import type { CniResult } from '../../shared/cni/result.ts'
import type { AddPolicy, AddRequest, Liveness } from './add-request.ts'
import type { AddressBook } from './address-book.ts'
import { claimProblem } from './claim-problems.ts'
import { releasedLease, writeLease } from './plan-del.ts'
import { checkGiven, planDelegation, type Delegation } from './plan-delegation.ts'
import { planGrants, type Grant } from './plan-grants.ts'
import { planTakeover, type Takeover } from './plan-takeover.ts'
import {
  attachmentKey,
  holderKey,
  leaseKey,
  type AttachmentRecord,
  type Change,
  type LeaseRecord,
} from './records.ts'

/** The addresses, or the type of the IPAM plugin that is to give them. */
export type AddAnswer =
  | { readonly kind: 'result'; readonly result: CniResult }
  | { readonly kind: 'delegate'; readonly type: string }

export interface AddPlan {
  readonly change: Change
  /** `answered` of the attachment after the change: by it an undo knows that no later ADD was answered from it. */
  readonly generation: number
  readonly answer: AddAnswer
  /** One line per decision, for logs and explanations. */
  readonly reasons: readonly string[]
}

/**
 * Decides one ADD. Pure: reads the book and the request, returns what to write and what to answer, or throws the
 * problem that the runtime is to show. Nothing is changed in either case.
 *
 * Invariants (DESIGN section 5, rules 2 to 5): a request by name gets that address or an error; a lease of another
 * holder is never overwritten while bound or held; the holder's older attachment gives its addresses up only to the
 * same pod, or when it is proved dead.
 */
export function planAdd(
  book: AddressBook,
  request: AddRequest,
  liveness: (attachment: AttachmentRecord) => Liveness,
  policy: AddPolicy,
  now: number,
): AddPlan {
  const existing = book.attachment(request.key)
  if (existing && liveness(existing) !== 'dead') {
    if (request.invocationId === null || existing.invocationId !== request.invocationId) {
      throw claimProblem.alreadyAdded(existing, book.leasesOf(request.key))
    }
    const leases = book.leasesOf(request.key)
    if (leases.length === 0 && existing.delegatedTo === undefined)
      throw claimProblem.alreadyAdded(existing, leases)
    if (existing.delegatedTo !== undefined) checkGiven(book, request, now)
    return repeatAnswer(request, existing, leases)
  }
  const takeover = planTakeover(book, request, liveness)
  const delegation = planDelegation(book, request, takeover)
  const grants = delegation ? [] : planGrants(book, request, takeover, now)
  return assemble(book, request, policy, now, takeover, grants, delegation)
}

/** For an ADD that was sent again. The new generation takes the attachment out of reach of the first sending's undo. */
function repeatAnswer(
  request: AddRequest,
  existing: AttachmentRecord,
  leases: readonly LeaseRecord[],
): AddPlan {
  const generation = existing.generation + 1
  const given = request.given.length > 0 && { given: request.given }
  const record = { ...existing, generation, answered: generation, ...given }
  return {
    change: [{ kind: 'attachment', key: attachmentKey(existing), expect: existing.generation, record }],
    generation,
    answer: answerOf(request, leases, existing.delegatedTo),
    reasons: ['the same ADD was answered before: answer repeated'],
  }
}

/** The answer of an ADD: one address of each range set, in their order; or who is to give them. */
function answerOf(
  request: AddRequest,
  leases: readonly LeaseRecord[],
  delegatedTo: string | undefined,
): AddAnswer {
  if (delegatedTo !== undefined) return { kind: 'delegate', type: delegatedTo }
  const ips = leases.map(lease => ({
    address: `${lease.address}/${lease.prefixLength}`,
    gateway: lease.gateway,
  }))
  return { kind: 'result', result: { ips, routes: request.routes, dns: request.dns } }
}

/** Turns a decision into writes and an answer. */
function assemble(
  book: AddressBook,
  request: AddRequest,
  policy: AddPolicy,
  now: number,
  takeover: Takeover,
  grants: readonly Grant[],
  delegation: Delegation | undefined,
): AddPlan {
  const { segment } = request.pool
  const retain = request.pod.retain ?? policy.retention
  const existing = book.attachment(request.key)
  const holderRecord = book.holder(request.holder)
  const reasons = [
    ...takeover.reasons,
    ...grants.map(grant => `${formatAddress(grant.address)}: ${grant.reason}`),
    ...(delegation ? [delegation.reason] : []),
  ]

  const bound = grants.map((grant): LeaseRecord => {
    const key = { segment, address: formatAddress(grant.address) }
    return {
      ...key,
      generation: (book.lease(key)?.generation ?? 0) + 1,
      state: 'bound',
      pool: request.pool.name,
      network: request.key.network,
      rangeSet: grant.rangeSet,
      prefixLength: grant.range.subnet.prefixLength,
      gateway: formatAddress(grant.range.gateway),
      holder: request.holder,
      podUid: request.podUid,
      attachment: request.key,
      node: request.node,
      named: grant.named,
      source: grant.source,
      retain,
      mac: request.pod.mac ?? null,
      since: now,
      until: null,
    }
  })
  // What the holder had and no longer wants, because its annotation or the ranges changed, is freed; but what an older
  // sandbox that may still live has, it keeps until its own DEL.
  const granted = new Set(bound.map(leaseKey))
  const left = new Map(
    [...takeover.movable, ...book.leasesOf(request.key)].map(lease => [leaseKey(lease), lease]),
  )
  const freed = [...left.values()]
    .filter(lease => !granted.has(leaseKey(lease)) && !takeover.inUse(lease))
    .map(lease => releasedLease({ ...lease, retain: 'release' }, policy, now))

  const leases = [...bound, ...freed]
  const generation = (existing?.generation ?? 0) + 1
  const change: Change = [
    ...leases.map(record => writeLease(book, record)),
    {
      kind: 'holder',
      key: holderKey(request.holder),
      expect: holderRecord?.generation ?? null,
      record: {
        generation: (holderRecord?.generation ?? 0) + 1,
        holder: request.holder,
        attachment: request.key,
        leases: bound.map(({ segment: where, address }) => ({ segment: where, address })),
      },
    },
    {
      kind: 'attachment',
      key: attachmentKey(request.key),
      expect: existing?.generation ?? null,
      record: {
        ...request.key,
        generation,
        answered: generation,
        holder: request.holder,
        podUid: request.podUid,
        node: request.node,
        bootId: request.bootId,
        netns: request.netns,
        netnsInode: request.netnsInode,
        invocationId: request.invocationId,
        startedAt: request.startedAt,
        since: now,
        ...(delegation && { delegatedTo: delegation.type }),
        undo: {
          leases: leases.map(({ segment: where, address, generation: wrote }) => ({
            segment: where,
            address,
            wrote,
            before: book.lease({ segment: where, address }) ?? null,
          })),
          attachment: holderRecord?.attachment ?? null,
        },
      },
    },
  ]
  return { change, generation, answer: answerOf(request, bound, delegation?.type), reasons }
}

import type { FoundAllocation } from '../../../shared/api/import.schema.ts'
import { formatAddress } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { AddressBook } from '../../ipam/pools/address-book.ts'
import { dropFormerHolders, writeAttachment, writeHolder, writeLease } from '../../ipam/plan/record-writes.ts'
import { planNetworkPool } from '../../ipam/plan/plan-network-pool.ts'
import { forgetOldest, releasedLease } from '../../ipam/plan/plan-release.ts'
import { isFree } from '../../ipam/choose/choose-address.ts'
import { policyOf } from '../../ipam/pools/pool-settings.ts'
import { reservedRetention } from '../../ipam/records/reservation-owner.ts'
import { retains } from '../../ipam/records/retention.ts'
import {
  describeHolder,
  leaseKey,
  sameAttachment,
  type AttachmentKey,
  type AttachmentRecord,
  type Change,
  type LeaseRecord,
  type Write,
} from '../../ipam/records/records.ts'
import {
  attachmentElsewhere,
  newAttachment,
  newLease,
  ofSandbox,
  undoEntry,
} from '../../ipam/records/new-records.ts'
import { type ImportTerms, type ImportDecision, decided } from './import-decision.ts'
import type { FoundGroup, Claims } from './group-found.ts'
import {
  type ImportPlace,
  type GroupContext,
  contextOf,
  isOf,
  leaseWithoutRecord,
  placeFor,
  slotOf,
} from './judge-found.ts'

/** One decision for each member of the group, and the writes of those that are adopted. */
export interface ImportPlan {
  readonly decisions: readonly ImportDecision[]
  readonly change: Change
}

function adoption({ key, holder }: FoundGroup, pool: string): ImportDecision {
  const who = describeHolder(holder)
  const bound = (containerId: string): string =>
    `bound to container ${containerId.slice(0, 13)}${holder.kind === 'pod' ? ` of ${who}` : ''}`
  return key
    ? { verdict: 'adopt', as: 'bound', pool, reason: bound(key.containerId), hint: '' }
    : { verdict: 'adopt', as: 'held', pool, reason: `kept for ${who}`, hint: '' }
}

/** Remembers the ranges of networks that leases were adopted from; a Problem where other pools are in the way. */
function rememberNetworks(book: AddressBook, places: readonly ImportPlace[]): Change | Problem {
  const inline = new Set(places.filter(place => place.inline).map(({ pool }) => pool))
  try {
    return [...inline].flatMap(pool => planNetworkPool(book, pool))
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

/**
 * Decides what becomes of the addresses that were found with one sandbox, or kept for one pod. Pure; nothing in the ledger that
 * is in use is changed. After the writes an ADD, a DEL and the sweeper find what an ADD would have left: the holder is the one
 * that an ADD of that sandbox would make, and it is never undone.
 */
export function planImport(
  book: AddressBook,
  found: readonly FoundAllocation[],
  group: FoundGroup,
  terms: ImportTerms & { readonly claims: Claims },
): ImportPlan {
  const context = contextOf(book, found, group, terms)
  const { key } = group
  const members = group.members.flatMap(index => found[index] ?? [])
  const places: ImportPlace[] = []
  const leases: LeaseRecord[] = []
  let netnsInode: string | null = null
  const decisions = members.map(one => {
    const place = placeFor(context, one)
    if ('verdict' in place) return place
    const own = leaseWithoutRecord(book, terms, group, place.at)
    // It is written as well where it is as it was: an older journal has no copy of it to tell a store that loses it.
    const lease = own
      ? { ...own, generation: own.generation + 1, node: terms.node }
      : adopted(context, one, place)
    context.taken.set(slotOf(lease), lease.address)
    places.push(place)
    leases.push(lease)
    const state = one.netns === null ? undefined : terms.namespaceAt(one.netns)
    if (state?.kind === 'namespace') netnsInode ??= state.inode
    return adoption(group, lease.pool)
  })
  if (leases.length === 0) return { decisions, change: [] }
  const pools = rememberNetworks(book, places)
  if (pools instanceof Problem) {
    const { message, hint } = pools
    const refused = (decision: ImportDecision): ImportDecision =>
      decision.verdict === 'adopt' ? decided('unfit', message, { hint }) : decision
    return { decisions: decisions.map(refused), change: [] }
  }
  const netns = members.flatMap(one => one.netns ?? [])[0] ?? ''
  const freed = context.outdated.map(lease => releasedLease({ ...lease, retain: 'release' }, terms))
  return {
    decisions,
    change: [
      ...pools,
      ...leases.map((lease): Write => ({ ...writeLease(book, lease), ...(key && { isFound: true }) })),
      ...freed.map(lease => writeLease(book, lease)),
      ...forgetOldest(book, freed),
      ...dropFormerHolders(book, leases),
      writeOwner(context, leases),
      ...(key ? [writeSandbox(context, key, leases, { netns, netnsInode })] : []),
    ],
  }
}

/** When an address was given: now, where that is not known. */
const knownSince = (since: number, now: number): number => (since === 0 ? now : since)

/** The lease as an ADD would have left it, or as that sandbox's DEL would have. */
function adopted(
  { book, terms, group, workload }: GroupContext,
  found: FoundAllocation,
  place: ImportPlace,
): LeaseRecord {
  const { source, node, pools, retain, now } = terms
  const { holder, podUid, key } = group
  const { pool, index, range, at } = place
  const before = book.lease(at)
  // It was kept, or given, as its pod had asked, which what was found does not tell.
  const own = before && !isFree(before, now) && isOf(before, holder) ? before : undefined
  const usual =
    own?.retain ??
    reservedRetention(book.reservation(at), holder, workload) ??
    policyOf(pools, pool.name).retention
  const kept = retain ?? (found.keeps && !retains(usual) ? 'while-owner-exists' : usual)
  return newLease(
    before,
    {
      ...{ ...at, pool: pool.name, rangeSet: index, prefixLength: range.subnet.prefixLength },
      gateway: formatAddress(range.gateway),
    },
    {
      ...{ holder, podUid, node, workload, attachment: key, source: `import ${source}` },
      named: own?.named ?? false,
      // What no sandbox has is either kept or not adopted at all.
      retain: key === null && !retains(kept) ? 'while-owner-exists' : kept,
      mac: found.mac,
      // A clock that was set back must not make that a time to come.
      since: key ? Math.min(knownSince(found.since ?? 0, now), now) : now,
    },
  )
}

/**
 * The holder with what it was found to have. One that has a newer sandbox keeps what it has, and is written all the same: should
 * that sandbox not get through to the store, this one must not either.
 */
function writeOwner({ book, terms, group, outdated }: GroupContext, leases: readonly LeaseRecord[]): Write {
  const { node, now } = terms
  const { holder, podUid, key, since } = group
  const present = book.holder(holder)
  const left = new Set(outdated.map(leaseKey))
  const had = (present?.leases ?? []).filter(lease => !left.has(leaseKey(lease)))
  const current = present?.attachment ?? null
  const same = current === null || (key !== null && sameAttachment(current, key))
  const newer = key !== null && present?.sandbox !== undefined && since > present.sandbox.since
  if (present && !same && !newer) return writeHolder(present, holder, present, had)
  const others = same ? had : []
  const has = new Set(leases.map(leaseKey))
  // It is compared with other results, which may be of a time to come as well.
  const sandbox = key && { ...key, node, podUid, since: knownSince(since, now) }
  return writeHolder(present, holder, ofSandbox(sandbox), [
    ...others.filter(other => !has.has(leaseKey(other))),
    ...leases,
  ])
}

function writeSandbox(
  { terms, group, present }: GroupContext,
  key: AttachmentKey,
  leases: readonly LeaseRecord[],
  sandbox: Pick<AttachmentRecord, 'netns' | 'netnsInode'>,
): Write {
  const { node, bootId, monotonic } = terms
  const { holder, podUid } = group
  const owner = { holder, podUid, node }
  const recorded = present && present.generation > 0 ? present : undefined
  const known = recorded ?? {
    ...attachmentElsewhere(key, { ...owner, since: Math.min(...leases.map(lease => lease.since)) }),
    ...sandbox,
  }
  const { netns, netnsInode, invocationId, startedAt, wiring, madeBy, undo } = known
  const record = newAttachment((present?.generation ?? 0) + 1, key, {
    ...{ ...owner, bootId, netns, netnsInode, invocationId, startedAt, since: known.since },
    // A GC whose list is older does not know what this import has found.
    answeredAt: Math.floor(monotonic * 1000),
    ...(wiring && { wiring }),
    ...(madeBy !== undefined && { madeBy }),
    undo: { ...undo, leases: [...undo.leases, ...leases.map(lease => undoEntry(lease, null))] },
  })
  return writeAttachment(present, key, record)
}

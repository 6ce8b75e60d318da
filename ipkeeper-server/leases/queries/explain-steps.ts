import { formatAddress, parseAddress } from '../../../shared/net/address.ts'
import { requestedMac, type AddRequest, type AddTerms } from '../../ipam/request/add-request.ts'
import { formatCandidates } from '../../ipam/request/candidates.ts'
import { describeRetention } from '../../ipam/plan/plan-release.ts'
import { formatTime } from '../../ipam/records/times.ts'
import type { AddPlan } from '../../ipam/plan/plan-add.ts'
import { findPool } from '../../ipam/pools/pool-settings.ts'
import type { Pool } from '../../ipam/pools/pool.ts'
import type { Reason, Trace } from '../../ipam/choose/add-context.ts'
import type { AttachmentRecord, LeaseRecord } from '../../ipam/records/records.ts'
import { reservedRetention } from '../../ipam/records/reservation-owner.ts'
import { formatRetention } from '../../ipam/records/retention.ts'
import { setOf, skippedAddresses } from '../../ipam/choose/skipped-addresses.ts'
import { describeLostNode, standingOf } from '../../ipam/records/standing.ts'
import { byFamily, usageOf } from '../../ipam/pools/usage.ts'
import type { LeaseService } from '../verbs/service.ts'

/** The steps of an explanation that only people want: an ADD spends no time on them. */

/** How many of the addresses that a dynamic choice passed over are named. */
const mostSkipped = 10

/** A step that decides nothing by itself. */
export const noted = (about: Reason['about'], subject: string, text: string): Reason => ({
  about,
  subject,
  verdict: 'noted',
  text,
})

/** What the pod asks for, one line per wish. */
export function wishesOf(request: AddRequest): Trace {
  const { pod } = request
  const asked = requestedMac(request)
  return [
    ...pod.addresses.map(({ address, source }) =>
      noted('request', formatAddress(address), `asked for by ${source}`),
    ),
    ...pod.candidates.map(list => noted('request', formatCandidates(list), `candidates of ${list.source}`)),
    ...pod.pools.map(({ name, source }) => noted('request', name, `pool asked for by ${source}`)),
    ...pod.gateways.map(({ address, source }) =>
      noted('request', formatAddress(address), `gateway named by ${source}`),
    ),
    ...(pod.retain === undefined
      ? []
      : [
          noted(
            'request',
            formatRetention(pod.retain),
            `retention asked for by ${pod.retainSource ?? 'the pod'}`,
          ),
        ]),
    ...(asked ? [noted('request', asked.mac, `MAC address asked for by ${asked.source}`)] : []),
    ...(pod.unread ?? []).map(({ key, dialect }) => ({
      ...noted(
        'request',
        `annotation ${key}`,
        `not read: add ${dialect} to "annotations" in the daemon's file to have it obeyed`,
      ),
      verdict: 'dropped' as const,
    })),
    ...pod.ignored.map(text => noted('request', text, 'ignored: a higher channel asks too')),
  ]
}

/** That the pod has an attachment now, and what an ADD would be beside it. */
export function describePresent(
  service: LeaseService,
  attachment: AttachmentRecord,
  uid: string | null,
): Reason {
  const { containerId, node, since, podUid, given, delegatedTo } = attachment
  const addresses =
    given ??
    service.ledger.leasesOf(attachment).map(({ address, prefixLength }) => `${address}/${prefixLength}`)
  const by = delegatedTo === undefined ? '' : ` by ${delegatedTo}`
  const standing = standingOf(attachment, service)
  const dead =
    standing.kind === 'ended'
      ? ', and is proved dead'
      : standing.kind === 'lost'
        ? `; ${describeLostNode(standing)}`
        : ''
  const has = `has ${addresses.join(', ') || 'no address'}${by} on node ${node} since ${formatTime(since)}${dead}`
  const same = podUid !== null && podUid === uid
  const next = same
    ? 'a new sandbox of the same pod'
    : `that of another pod of the same name${podUid === null ? ', since its UID is not known' : ''}`
  const stays = dead === '' ? '; a changed annotation takes effect when the pod is started again' : ''
  return noted('sandbox', containerId.slice(0, 13), `${has}${stays}; an ADD now would be ${next}`)
}

/** The pool of a recorded name, as the request sees it. */
function poolNamed(name: string, { inline }: AddRequest, { pools }: AddTerms): Pool | undefined {
  return findPool(pools, name)?.pool ?? (inline?.name === name ? inline : undefined)
}

/** How full a pool is that was dropped for it. */
function withUsage(service: LeaseService, add: AddRequest, terms: AddTerms, reason: Reason): Reason {
  if (reason.code !== 'IPK_POOL_FULL' && reason.code !== 'IPK_QUOTA') return reason
  const usages = reason.subject.split(',').flatMap(name => {
    const pool = poolNamed(name, add, terms)
    if (!pool) return []
    const sets = pool.rangeSets.map(set => ({ set, family: set[0]?.family ?? 4 }))
    return byFamily(sets).map(group => {
      const part = { ...pool, rangeSets: group.sets.map(({ set }) => set) }
      const { capacity, used, held, free } = usageOf(service.ledger, part, terms.now)
      const addresses = `IPv${group.family} ${capacity === 1n ? 'address' : 'addresses'}`
      return `pool ${name} has ${capacity} ${addresses}: ${used} in use, ${held} kept or reserved, ${free} free`
    })
  })
  return { ...reason, text: [reason.text, ...usages].join('; ') }
}

/** What an ADD would write as its pod's own. */
function grantedBy({ change }: AddPlan): readonly LeaseRecord[] {
  return change.flatMap(write =>
    write.kind === 'lease' && write.record?.state === 'bound' ? [write.record] : [],
  )
}

/** Which addresses a dynamic choice passed over. */
function skippedBy(service: LeaseService, add: AddRequest, terms: AddTerms, lease: LeaseRecord): Trace {
  const pool = poolNamed(lease.pool, add, terms)
  const set = pool && setOf(pool, lease.address)
  const chosen = parseAddress(lease.address)
  if (lease.source !== 'dynamic' || !set || !chosen) return []
  if (service.ledger.isShared) {
    const text =
      'nodes that share leases do not all begin at the lowest: this is a free one of a stripe of this node'
    return [noted('address', lease.address, text)]
  }
  const { shown, more } = skippedAddresses(service.ledger, pool, set, {
    chosen,
    now: terms.now,
    most: mostSkipped,
    own: terms.own,
  })
  const dropped = shown.map(({ address, text }): Reason => ({
    about: 'address',
    subject: address,
    verdict: 'dropped',
    text,
  }))
  return more === 0n
    ? dropped
    : [
        ...dropped,
        { about: 'address', subject: `and ${more} more`, verdict: 'dropped', text: 'passed over likewise' },
      ]
}

/** One line for addresses with the same retention. */
function retentionsOf(
  { ledger }: LeaseService,
  leases: readonly LeaseRecord[],
  { pod }: AddRequest,
  terms: AddTerms,
): Trace {
  const isReserved = (lease: LeaseRecord): boolean =>
    reservedRetention(ledger.reservation(lease), lease.holder, lease.workload ?? null) !== undefined
  const texts = Map.groupBy(leases, lease =>
    describeRetention(lease, pod, { ...terms, isReserved: isReserved(lease) }),
  )
  return [...texts].map(([text, those]) =>
    noted('retention', those.map(({ address }) => address).join(','), text),
  )
}

/** The steps of a decision, with usage, addresses that were passed over, and what becomes of the granted ones. */
export function inDetail(
  service: LeaseService,
  add: AddRequest,
  terms: AddTerms,
  trace: Trace,
  plan: AddPlan | undefined,
): Trace {
  const leases = plan ? grantedBy(plan) : []
  return [
    ...trace.flatMap(reason => {
      if (reason.about !== 'address' || reason.verdict !== 'chosen')
        return withUsage(service, add, terms, reason)
      const lease = leases.find(({ address }) => address === reason.subject)
      // Of a pool that was dropped after its addresses had been chosen.
      if (!lease) return { ...reason, verdict: 'noted' as const, text: `${reason.text}, but not given` }
      return [...skippedBy(service, add, terms, lease), reason]
    }),
    ...retentionsOf(service, leases, add, terms),
  ]
}

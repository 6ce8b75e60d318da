import { setTimeout as delay } from 'node:timers/promises'
import type { ForcedReleasePlan, ForcedReleaseReply } from '../../../shared/api/address.schema.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { spellTime } from '../../ipam/records/last-contact.ts'
import {
  describeClaim,
  formersThatMayRun,
  isSameYield,
  mayRunElsewhere,
  withoutYield,
  withYield,
} from '../../ipam/records/node-record.ts'
import {
  describeHolder,
  sameAttachment,
  type AskedYield,
  type AttachmentKey,
  type LeaseRecord,
} from '../../ipam/records/records.ts'
import { forceLine } from '../../ipam/records/standing.ts'
import { writeNode } from '../ledger/write-node.ts'
import { leaseItem } from '../queries/listing.ts'
import { askClaimant, challengeOf, notKept, takeBackQuestion, usualAnswerWithin } from './ask-claimant.ts'
import { delAttachment, isRecordedHere } from './del.ts'
import { assertSomebodyHas, release } from './release.ts'
import { readLeaseKey } from './reserve.ts'
import type { LeaseService } from './service.ts'

const lookEvery = 100

export interface ForceTerms {
  /** The operator says that the machine is off. */
  readonly poweredOff: boolean
  /** Nothing is done: what would be, or why it is refused. */
  readonly dryRun: boolean
  /** What was agreed on: nothing else is released. */
  readonly of?: ForcedReleasePlan['of'] | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that its node has to answer, and then as many to cut the sandbox off. */
  readonly answerWithin?: number | undefined
}

type BoundLease = LeaseRecord & { readonly attachment: AttachmentKey }

/**
 * Ends by an operator's word what a sandbox has, wherever it is (docs/adr/0027). A sandbox that can be cut off is, before its address
 * is given up: here, or by the daemon of its own node. Where nobody can, the word is all there is: it is written into the record of
 * that node first, which takes those sandboxes' links away when it is back.
 *
 * @throws IPK_NODE_MAY_RUN where nothing says that the machine is off; IPK_NODE_LIVES where its daemon does not do it;
 * IPK_ADDRESS_HELD where another sandbox has it than was agreed on; IPK_ADDRESS_FREE; what the store says
 */
export async function forceRelease(
  service: LeaseService,
  segment: string,
  address: string,
  terms: ForceTerms,
): Promise<ForcedReleaseReply> {
  const { key } = readLeaseKey(segment, address)
  const lease = assertSomebodyHas(service, key)
  if (!isBound(lease)) return await releaseKept(service, lease, terms)
  assertAgreed(lease, terms)
  const planned = await planFor(service, lease, terms)
  if (planned.warning !== null && terms.of?.warned === false)
    throw mayRun(
      lease,
      `node ${lease.node} may still run, and nothing was shown of that: ${planned.says}`,
      planned.warning,
    )
  if (terms.dryRun) return { plan: planned, reply: null }
  const plan = await carryOut(service, lease, planned, terms)
  const now = service.ledger.lease(key)
  if (now && sameAttachment(now.attachment, lease.attachment))
    throw new Problem(
      'IPK_STORE_CONFLICT',
      `${lease.address} is still bound: its record changed in the meantime`,
    )
  const after = now && now.state !== 'bound' ? leaseItem(now) : null
  return { plan, reply: { released: leaseItem(lease), after } }
}

/** Resolves to the plan as it was carried out. */
async function carryOut(
  service: LeaseService,
  lease: BoundLease,
  plan: ForcedReleasePlan,
  terms: ForceTerms,
): Promise<ForcedReleasePlan> {
  const isByItsNode = plan.way === 'by-its-node'
  if (isByItsNode && (await askItsNode(service, lease, plan, terms))) return { ...plan, warning: null }
  if (plan.way === 'by-word') await leaveWord(service, lease)
  await endHere(service, lease)
  return isByItsNode ? { ...plan, way: 'by-word' } : plan
}

const isBound = (lease: LeaseRecord): lease is BoundLease => lease.attachment !== null

async function releaseKept(
  service: LeaseService,
  lease: LeaseRecord,
  { dryRun }: ForceTerms,
): Promise<ForcedReleaseReply> {
  const says = `${lease.address} is ${lease.state === 'held' ? 'kept for' : 'cooling down after'} ${describeHolder(lease.holder)}: no sandbox has it`
  const plan: ForcedReleasePlan = { way: 'kept', says, others: [], warning: null, of: agreedOn(lease) }
  if (dryRun) return { plan, reply: null }
  const { released } = await release(service, lease.segment, lease.address)
  return { plan, reply: { released, after: null } }
}

const agreedOn = ({ attachment, since }: LeaseRecord): ForcedReleasePlan['of'] => ({
  containerId: attachment?.containerId ?? null,
  since: new Date(since).toISOString(),
  warned: false,
})

function assertAgreed(lease: LeaseRecord, { of }: ForceTerms): void {
  const present = agreedOn(lease)
  if (!of || (of.containerId === present.containerId && of.since === present.since)) return
  throw new Problem(
    'IPK_ADDRESS_HELD',
    `${lease.address} has been assigned to another holder in the meantime: it is bound to ${describeHolder(lease.holder)} on node ${lease.node}`,
    { hint: `to see its holder: ipkeeperctl who ${lease.address}` },
  )
}

/** What has to be done with a sandbox before its address may go to others. */
async function planFor(
  service: LeaseService,
  lease: BoundLease,
  terms: ForceTerms,
): Promise<ForcedReleasePlan> {
  const { ledger, node: here, liveness } = service
  const attachment = ledger.attachment(lease.attachment)
  const others = ledger
    .leasesOf(lease.attachment)
    .filter(({ address }) => address !== lease.address)
    .map(({ address }) => address)
  const warning = warningOf(service, lease, others)
  const base = { others, warning: null, of: agreedOn(lease) }
  const warned = { others, warning, of: { ...base.of, warned: true } }
  const who = `${describeHolder(lease.holder)} (container ${lease.attachment.containerId.slice(0, 13)} on node ${lease.node})`
  const cut = `loses its interface ${lease.attachment.ifname}; it keeps running without it`
  if (attachment && isRecordedHere(service, attachment)) {
    if (liveness(attachment) === 'dead')
      return { ...base, way: 'ended', says: `the sandbox of ${who} is gone` }
    if (attachment.netnsInode !== null) return { ...base, way: 'cut-off', says: `${who} ${cut}` }
  }
  if (lease.node !== here && (await lives(service, lease.node, terms))) {
    const isShared = formersOf(service, lease.node) !== undefined
    return {
      ...(isShared && terms.poweredOff ? warned : base),
      way: 'by-its-node',
      says: `node ${lease.node} is running: its daemon disconnects the sandbox${isShared ? ', if that machine runs it' : ''}; ${who} ${cut}`,
    }
  }
  await assertOff(service, lease, warning, terms)
  return {
    ...warned,
    way: 'by-word',
    says: `the sandbox of ${who} cannot be disconnected, because the daemon of its node does not answer`,
  }
}

async function lives(service: LeaseService, name: string, terms: ForceTerms): Promise<boolean> {
  const { ledger } = service
  if (!ledger.isShared || !ledger.keeps('node')) return false
  const challenge = challengeOf(service)
  const { answerWithin = usualAnswerWithin, signal } = terms
  try {
    await askClaimant(ledger, name, challenge, { answerWithin, signal })
    return false
  } catch (error) {
    if (error instanceof Problem && error.code === 'IPK_NODE_LIVES') return true
    throw error
  } finally {
    await takeBackQuestion(service, name, challenge)
  }
}

/** Machines that had the node's name before and may run, for people: "the machine that had the name n2 before (ID ...)". */
function formersOf({ ledger }: LeaseService, node: string): string | undefined {
  const formers = formersThatMayRun(ledger.node(node) ?? {})
  if (formers.length === 0) return undefined
  return `the machine that had the name ${node} before (${formers.map(describeClaim).join(', or ')})`
}

/** What happens where the operator's word is wrong. */
function warningOf(
  service: LeaseService,
  { address, node, holder }: LeaseRecord,
  others: readonly string[],
): string {
  const all = [address, ...others].join(' and ')
  const former = formersOf(service, node)
  const machine = former ? `node ${node}, or ${former},` : `node ${node}`
  return (
    `if ${machine} is still running, ${describeHolder(holder)} there keeps using ${all}: two pods then answer for one address, ` +
    `until the daemon of ${former ? 'that machine' : `node ${node}`} reaches the store again and disconnects that sandbox`
  )
}

/** Nothing but silence proves nothing: then the operator has to have looked. */
async function assertOff(
  service: LeaseService,
  lease: LeaseRecord,
  warning: string,
  { poweredOff }: ForceTerms,
): Promise<void> {
  if (poweredOff) return
  const reasons = await signsOfLife(service, lease)
  if (reasons.length > 0)
    throw mayRun(lease, `node ${lease.node} may still run: ${reasons.join('; ')}`, warning)
}

function mayRun(lease: LeaseRecord, message: string, warning: string): Problem {
  return new Problem('IPK_NODE_MAY_RUN', message, {
    details: warning,
    hint: `make sure that its machine is off, then: ${forceLine(lease)} --powered-off`,
  })
}

async function signsOfLife(service: LeaseService, lease: LeaseRecord): Promise<readonly string[]> {
  const { ledger, node: here, lostNode, isForgotten, contactAgeOf, lastHeardOf, answersOnLink } = service
  const { node, address } = lease
  const own = node === here ? [] : (ledger.node(node)?.addresses ?? [])
  const answers = (await answersOnLink?.([address, ...own])) ?? []
  const heard = answers.map(
    ({ address: its, mac }) =>
      `${mac} on the network answers for ${its === address ? its : `its address ${its}`}`,
  )
  const lost = lostNode?.(node) ?? (isForgotten?.(node) === true ? 'forgotten' : undefined)
  if (lost !== undefined || contactAgeOf?.(node).kind === 'over') return heard
  const age = lastHeardOf?.(node)
  const unknown =
    node === here
      ? 'this node has no record of that sandbox'
      : `its daemon does not answer, and it has not been declared off (last contact ${age === undefined ? 'not known' : `${spellTime(age)} ago`})`
  return [...heard, unknown]
}

/** Ends the sandbox by the way of a DEL, if it is still the one that was judged. */
async function endHere(service: LeaseService, lease: BoundLease): Promise<void> {
  await delAttachment(service, lease.attachment, undefined, {
    released: { segment: lease.segment, address: lease.address },
    isMeant: () => {
      const present = service.ledger.lease(lease)
      return present?.since === lease.since && sameAttachment(present.attachment, lease.attachment)
    },
  })
}

function askedYield({ node: by, now }: LeaseService, lease: BoundLease): AskedYield {
  const { network, containerId, ifname } = lease.attachment
  const { segment, address } = lease
  return { network, containerId, ifname, segment, address, by, since: now() }
}

/** Durable before anything is ended: what nobody heard of would not be cut off when the node is back. */
async function leaveWord(service: LeaseService, lease: BoundLease): Promise<AskedYield | undefined> {
  const { ledger } = service
  if (!ledger.isShared || !ledger.keeps('node')) return undefined
  const asked = askedYield(service, lease)
  for (;;) {
    const record = await ledger.readNode(lease.node)
    // One that is made here would be waited for after a loss; a node of old does not know of words.
    if (!record || (lease.node === service.node && !mayRunElsewhere(record))) return undefined
    const next = withYield(record, asked)
    if (next === record || (await writeNode(ledger, lease.node, record, next))) return asked
  }
}

const isStillHis = ({ ledger }: LeaseService, lease: BoundLease): boolean =>
  sameAttachment(ledger.lease(lease)?.attachment ?? null, lease.attachment)

/**
 * The daemon of the lease's node cuts its sandbox off, and ends it. Resolves to false where it has no such sandbox, and the operator says
 * that the machine which had its name before is off, with that warning before them: what was asked stays for that one.
 */
async function askItsNode(
  service: LeaseService,
  lease: BoundLease,
  { warning }: ForcedReleasePlan,
  terms: ForceTerms,
): Promise<boolean> {
  const { ledger } = service
  const { node } = lease
  const yieldWithin = terms.answerWithin ?? usualAnswerWithin
  const asked = await leaveWord(service, lease)
  if (!asked) throw new Problem('IPK_NODE_UNKNOWN', `node ${node} has no record in the store`)
  const end = performance.now() + yieldWithin
  const isNotHere = (): boolean =>
    (ledger.node(node)?.yields ?? []).some(({ notHere, ...other }) => notHere && isSameYield(other, asked))
  while (isStillHis(service, lease) && !isNotHere() && performance.now() < end) await delay(lookEvery)
  if (!isStillHis(service, lease)) return true
  const isElsewhere = isNotHere()
  if (isElsewhere && terms.poweredOff && warning !== null) return false
  const record = await ledger.readNode(node)
  const isKept = record && withoutYield(record, asked) !== record
  if (isKept) await writeNode(ledger, node, record, withoutYield(record, asked))
  else throw notKept(`what node ${node} is asked for`)
  if (isElsewhere) {
    const who = formersOf(service, node) ?? 'another machine'
    const message = `node ${node} is running and has no record of that sandbox: ${who} may still run it`
    throw mayRun(lease, message, warningOf(service, lease, []))
  }
  const version = record.version === undefined ? 'of an earlier version' : `version ${record.version}`
  throw new Problem(
    'IPK_NODE_LIVES',
    `node ${node} is running but has not released ${lease.address} within ${spellTime(yieldWithin)} (its daemon is ${version})`,
    { hint: `delete ${describeHolder(lease.holder)}; or on node ${node}: ${forceLine(lease)}` },
  )
}

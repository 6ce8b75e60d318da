import { formatTime } from './times.ts'
import {
  leaseKey,
  sameAttachment,
  type AskedYield,
  type FormerClaim,
  type GoneMark,
  type NodeChallenge,
  type NodeClaim,
  type NodeRecord,
} from './records.ts'

/**
 * Whose a node's name is, where nodes share a ledger. Whoever starts under a name that another one has claimed writes a
 * challenge beside the claim, and waits: a claimant that lives hears of it and takes it away. One that says nothing loses
 * the name, which is no proof that it has died: what it had stays in use until that is proved some other way.
 *
 * By the same challenge an operator's daemon asks before a node is declared gone for good (leases/verbs/ask-claimant.ts).
 *
 * Nothing is written while nobody starts: no claim is renewed.
 */

/**
 * mine: it is so. take: it may be written at once. challenge: that is to be written. wait: for an answer to it. queue: another
 * one's challenge waits for an answer. refused: the claimant lives.
 */
export type ClaimStep =
  | { readonly kind: 'mine' | 'take' | 'challenge' | 'wait' | 'queue' }
  | { readonly kind: 'refused'; readonly by: NodeClaim }

/**
 * What is to be done next, by what stands under the name.
 *
 * @param asked the generation of the record that has one's own question. That took away every earlier refusal, so a later one says that the
 *   claimant lives, whomever it was given to: of several who ask, each takes away the answers to the others. Absent: not asked yet.
 */
export function nextStep(
  record: NodeRecord | undefined,
  { session, askedOn }: Pick<NodeChallenge, 'session' | 'askedOn'>,
  asked = Infinity,
): ClaimStep {
  if (!record?.claim) return { kind: 'take' }
  const { claim, challenge, refused, gone, generation } = record
  // Who lives says so by claiming it anew.
  if (claim.session === session) return { kind: gone ? 'take' : 'mine' }
  if (refused !== undefined && generation > asked) return { kind: 'refused', by: claim }
  // A machine that starts while an operator asks for it must not wait until it is declared gone.
  const makesWay = challenge?.askedOn !== undefined && askedOn === undefined
  if (!challenge || makesWay) return { kind: 'challenge' }
  return { kind: challenge.session === session ? 'wait' : 'queue' }
}

function withoutContest(record: NodeRecord): NodeRecord {
  const { challenge, refused, ...rest } = record
  return challenge === undefined && refused === undefined ? record : rest
}

/**
 * Former claimants that a name remembers: a machine that is made anew at each boot is another identity each time, and the record is
 * read and watched by all nodes.
 */
const mostFormers = 16

/**
 * The name with this claim. A claimant of another identity is remembered: there may be leases of it under the name. That the name was gone
 * was said of all who had it.
 */
export function withClaim(record: NodeRecord, mine: NodeClaim): NodeRecord {
  const { claim: before, formers: known = [], ...rest } = withReturn(withoutContest(record))
  const formers = [...known, ...(before ? [before] : [])]
    .filter(({ id }, index, all) => id !== mine.id && all.findLastIndex(other => other.id === id) === index)
    .slice(-mostFormers)
    .map((former): FormerClaim => (record.gone ? { ...former, gone: record.gone } : former))
  return { ...rest, claim: mine, ...(formers.length > 0 && { formers }) }
}

/**
 * Since when all who had the name before are gone, by an operator's word: what is in use under it since earlier, and not on record on the
 * machine of its claimant, is not any more. undefined: one of them may live, or there was none.
 */
export function formersGoneSince({ formers = [] }: Pick<NodeRecord, 'formers'>): number | undefined {
  const since = formers.map(({ gone }) => gone?.since ?? Infinity)
  const last = Math.max(...since)
  return Number.isFinite(last) ? last : undefined
}

/**
 * Machines that had the name before and may still run something under it: they were not declared gone, and are not this very hardware,
 * which has booted since.
 */
export function formersThatMayRun({
  claim,
  formers = [],
}: Pick<NodeRecord, 'claim' | 'formers'>): readonly FormerClaim[] {
  const hasBooted = ({ hardware, bootId }: NodeClaim): boolean =>
    hardware !== undefined && hardware === claim?.hardware && bootId !== claim.bootId
  return formers.filter(former => !former.gone && !hasBooted(former))
}

export const mayRunElsewhere = (record: Pick<NodeRecord, 'claim' | 'formers'>): boolean =>
  formersThatMayRun(record).length > 0

/** Whether another machine that had the name may still run something under it, and not this one in this boot, whose record was lost. */
export const anotherMayRun = (record: Pick<NodeRecord, 'claim' | 'formers'>): boolean =>
  formersThatMayRun(record).some(({ bootId }) => bootId !== record.claim?.bootId)

/** Whether a machine has the name, or is remembered to have had it. */
export const isKnownUnder = ({ claim, formers = [] }: NodeRecord, id: string): boolean =>
  claim?.id === id || formers.some(former => former.id === id)

/** The name with a machine that had it, and still has something under it. */
export function withFormer(record: NodeRecord, former: FormerClaim): NodeRecord {
  return { ...record, formers: [...(record.formers ?? []), former].slice(-mostFormers) }
}

export function withChallenge(record: NodeRecord, mine: NodeChallenge): NodeRecord {
  return { ...withoutContest(record), challenge: mine }
}

/** The challenge taken back by who asked; another one's stays. */
export function withoutChallenge(record: NodeRecord, { session }: NodeChallenge): NodeRecord {
  const { challenge, ...rest } = record
  return challenge?.session === session ? rest : record
}

/** What the claimant answers to a challenge. */
export function withRefusal(record: NodeRecord, { session }: NodeClaim): NodeRecord {
  return { ...withoutContest(record), refused: session }
}

function withoutFormer(record: NodeRecord, id: string): NodeRecord {
  const { formers = [], ...rest } = record
  const others = formers.filter(former => former.id !== id)
  if (others.length === formers.length) return record
  return others.length === 0 ? rest : { ...rest, formers: others }
}

/**
 * The name given up by a machine that had it. The record stays, since one that vanishes would look like a loss of the engine; nobody
 * waits for a node of that name, unless others had it of whom nobody knows whether they live.
 *
 * @param id the machine's
 * @param isBorne whether leases or holders still bear it
 */
export function withoutClaim(
  record: NodeRecord,
  { id, isBorne, gone }: { readonly id: string; readonly isBorne: boolean; readonly gone: GoneMark },
): NodeRecord {
  const others = withoutFormer(record, id)
  const { claim, ...rest } = withoutContest(others)
  const unclaimed = claim === undefined ? others : rest
  const mayLive = isBorne || unclaimed.formers !== undefined || record.gone !== undefined
  return mayLive ? unclaimed : withoutReturn(unclaimed, gone)
}

/** "ID 3f2a91c0d1e2 since 2026-11-02T08:00:00Z": for people. */
export const describeClaim = ({ id, since }: NodeClaim): string =>
  `ID ${id.slice(0, 12)} since ${formatTime(since)}`

/**
 * An engine that nodes share may lose records: it is made anew, or goes back to a snapshot. What it has then is no proof that
 * an address is free. Each such loss begins a new epoch, which nodes count in their records: one that has told the engine
 * again what it holds, by its journal, is in the new epoch. Nothing new is given while a node is in an earlier one, but for
 * nodes that an operator has declared gone.
 */
export const firstEpoch = 1

export const epochOf = ({ epoch = firstEpoch }: Pick<NodeRecord, 'epoch'>): number => epoch

/** Names of the nodes that have not told again what they hold. `epoch`: the newest one that is known. */
export function untoldNodes(nodes: readonly NodeRecord[], epoch: number): readonly string[] {
  return nodes.filter(node => node.gone === undefined && epochOf(node) < epoch).map(({ name }) => name)
}

/** Names of those of which something is left: it waits for another node, or is not taken up yet. */
export function owingNodes(nodes: readonly NodeRecord[]): readonly string[] {
  return nodes.filter(node => node.gone === undefined && node.owes === true).map(({ name }) => name)
}

/** Whether a record says no more than that there is a node of that name; it is written for one that has lost its own, or never had one. */
export const isPlaceholder = ({ claim, formers, epoch, addresses }: NodeRecord): boolean =>
  claim === undefined && formers === undefined && epoch === undefined && addresses.length === 0

/** The record of a node that is gone for good: nobody has to answer for it any more. */
export function withoutReturn(record: NodeRecord, gone: NonNullable<NodeRecord['gone']>): NodeRecord {
  return { ...withoutContest(record), gone }
}

/** The record of a node that is not gone. */
export function withReturn(record: NodeRecord): NodeRecord {
  const { gone, ...rest } = record
  return gone === undefined ? record : rest
}

export const isSameYield = (a: AskedYield, b: AskedYield): boolean =>
  sameAttachment(a, b) && leaseKey(a) === leaseKey(b)

/** The record with a sandbox of it that has to give its addresses up. */
export function withYield(record: NodeRecord, asked: AskedYield): NodeRecord {
  const { yields = [] } = record
  return yields.some(other => isSameYield(other, asked)) ? record : { ...record, yields: [...yields, asked] }
}

/** The record where the machine that has the name says that it has no such sandbox. */
export function withNotHere(record: NodeRecord, asked: AskedYield): NodeRecord {
  const { yields = [] } = record
  const isNew = yields.some(other => isSameYield(other, asked) && !other.notHere)
  if (!isNew) return record
  return {
    ...record,
    yields: yields.map(other => (isSameYield(other, asked) ? { ...other, notHere: true } : other)),
  }
}

/** The record without what was asked, because it was done or is taken back. */
export function withoutYield(record: NodeRecord, asked: AskedYield): NodeRecord {
  const { yields = [], ...rest } = record
  const left = yields.filter(other => !isSameYield(other, asked))
  if (left.length === yields.length) return record
  return left.length === 0 ? rest : { ...rest, yields: left }
}

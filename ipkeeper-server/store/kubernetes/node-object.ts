import type {
  AskedYield,
  FormerClaim,
  GoneMark,
  NodeChallenge,
  NodeClaim,
  NodeRecord,
} from '../../ipam/records/records.ts'
import type { ChallengeEntry, ClaimEntry, FormerEntry, GoneEntry, IPNodeSpec } from './ip-node.schema.ts'
import { objectSchema } from './layout-version.ts'
import { formatMoment, readMoment, readSpec, type ApiRecord } from './read-object.ts'

function claimEntry(claim: NodeClaim): ClaimEntry {
  const { id, session, bootId, machineId, hardware, since, ...rest } = claim
  const nothing: Readonly<Record<string, never>> = rest
  return {
    ...nothing,
    ...{ id, session, bootId },
    ...(machineId !== undefined && { machineId }),
    ...(hardware !== undefined && { hardware }),
    since: formatMoment(since),
  }
}

function readClaim(entry: ClaimEntry): NodeClaim {
  const { id, session, bootId, machineId, hardware, since } = entry
  return {
    ...{ id, session, bootId },
    ...(machineId !== undefined && { machineId }),
    ...(hardware !== undefined && { hardware }),
    since: readMoment(since),
  }
}

const goneEntry = ({ since, by }: GoneMark): GoneEntry => ({ since: formatMoment(since), by })

const readGone = ({ since, by }: GoneEntry): GoneMark => ({ since: readMoment(since), by })

function formerEntry({ gone, ...claim }: FormerClaim): FormerEntry {
  return { ...claimEntry(claim), ...(gone && { gone: goneEntry(gone) }) }
}

function readFormer({ gone, ...claim }: FormerEntry): FormerClaim {
  return { ...readClaim(claim), ...(gone && { gone: readGone(gone) }) }
}

function challengeEntry({ askedOn, ...claim }: NodeChallenge): ChallengeEntry {
  return { ...claimEntry(claim), ...(askedOn !== undefined && { askedOn }) }
}

function readChallenge({ askedOn, ...claim }: ChallengeEntry): NodeChallenge {
  return { ...readClaim(claim), ...(askedOn !== undefined && { askedOn }) }
}

export function nodeSpec(record: NodeRecord): IPNodeSpec {
  const { generation, name, addresses, since, stopsAfter, renewedAt, ...names } = record
  const { claim, challenge, refused, formers, epoch, owes, gone, version, yields, ...rest } = names
  const nothing: Readonly<Record<string, never>> = rest
  return {
    ...nothing,
    schema: objectSchema,
    generation,
    name,
    addresses: [...addresses],
    since: formatMoment(since),
    ...(stopsAfter !== undefined && { stopsAfter }),
    ...(renewedAt !== undefined && { renewedAt: formatMoment(renewedAt) }),
    ...(claim && { claim: claimEntry(claim) }),
    ...(challenge && { challenge: challengeEntry(challenge) }),
    ...(refused !== undefined && { refused }),
    ...(formers && { formers: formers.map(formerEntry) }),
    ...(epoch !== undefined && { epoch }),
    ...(owes && { owes }),
    ...(gone && { gone: goneEntry(gone) }),
    ...(version !== undefined && { version }),
    ...(yields && { yields: yields.map(asked => ({ ...asked, since: formatMoment(asked.since) })) }),
  }
}

/** Throws UnreadableObject. */
export function readNode(object: ApiRecord): NodeRecord {
  const { generation, name, addresses, since, stopsAfter, renewedAt, ...names } = readSpec(
    object,
  ) as IPNodeSpec
  const { claim, challenge, refused, formers, epoch, owes, gone, version, yields } = names
  return {
    generation,
    name,
    addresses,
    since: readMoment(since),
    ...(stopsAfter !== undefined && { stopsAfter }),
    ...(renewedAt !== undefined && { renewedAt: readMoment(renewedAt) }),
    ...(claim && { claim: readClaim(claim) }),
    ...(challenge && { challenge: readChallenge(challenge) }),
    ...(refused !== undefined && { refused }),
    ...(formers && { formers: formers.map(readFormer) }),
    ...(epoch !== undefined && { epoch }),
    ...(owes && { owes }),
    ...(gone && { gone: readGone(gone) }),
    ...(version !== undefined && { version }),
    ...(yields && { yields: yields.map(readYield) }),
  }
}

function readYield({ notHere, ...asked }: NonNullable<IPNodeSpec['yields']>[number]): AskedYield {
  return { ...asked, since: readMoment(asked.since), ...(notHere === true && { notHere }) }
}

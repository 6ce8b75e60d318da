import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  FoundAllocation,
  ImportItem,
  ImportReply,
  ImportRequest,
} from '../../../shared/api/import.schema.ts'
import { formatAddress, parseAddress } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { readIdentity, readIpamConfig } from '../../ipam/request/network-config.ts'
import { claimedTwice, groupFound, type FoundGroup } from '../../migrate/plan/group-found.ts'
import type { ImportDecision, ImportTerms } from '../../migrate/plan/import-decision.ts'
import { fateOf } from '../../migrate/plan/judge-found.ts'
import { planImport, type ImportPlan } from '../../migrate/plan/plan-import.ts'
import { poolOf } from '../../ipam/pools/pool-record.ts'
import { isSegmentName, type Pool } from '../../ipam/pools/pool.ts'
import { attachmentKey, holderKey, type PoolRecord } from '../../ipam/records/records.ts'
import { parseRetention, type Retention } from '../../ipam/records/retention.ts'
import { commitPlan } from '../ledger/commit-plan.ts'
import type { NodeFacts } from './invocation.ts'
import type { LeaseService } from './service.ts'

/** So many sandboxes are adopted side by side: their changes share a transaction. */
const adoptedAtOnce = 64

/** Ranges of networks by name, or why they cannot be read. Of two with one name the first counts, as for runtimes. */
function readRanges(networks: ImportRequest['networks']): Map<string, Pool | Problem> {
  const pools = new Map<string, Pool | Problem>()
  for (const config of networks) {
    const name = typeof config['name'] === 'string' ? config['name'] : ''
    if (name === '' || pools.has(name)) continue
    try {
      const { inline } = readIpamConfig(config, readIdentity(config))
      if (inline) pools.set(name, inline)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      pools.set(name, error)
    }
  }
  return pools
}

function readRetain(text: string | undefined): Retention | undefined {
  if (text === undefined) return undefined
  const retention = parseRetention(text)
  if (retention !== undefined) return retention
  throw new Problem('IPK_REQUEST_INVALID', `retention "${text}" cannot be read`, {
    hint: 'write release, while-owner-exists, forever or a time such as 30m',
  })
}

function readSegment(segment = 'default'): string {
  if (isSegmentName(segment)) return segment
  throw new Problem('IPK_REQUEST_INVALID', `segment "${segment}" is no name of letters, digits and "-"`)
}

/** Of each record once. A pool that changes meanwhile gets another record. */
function parsedOnce(): (record: PoolRecord) => Pool {
  const pools = new WeakMap<PoolRecord, Pool>()
  return record => {
    const pool = pools.get(record) ?? poolOf(record)
    pools.set(record, pool)
    return pool
  }
}

function itemOf(found: FoundAllocation, segment: string, decision: ImportDecision): ImportItem {
  const address = parseAddress(found.address)
  return { ...found, address: address ? formatAddress(address) : found.address, segment, ...decision }
}

/** What cannot be reached in time is passed over by `namespaceAt`, and then proves nothing. */
async function reachAll(
  found: readonly FoundAllocation[],
  reachNetns: NodeFacts['reachNetns'],
): Promise<void> {
  for (const path of new Set(found.flatMap(({ netns }) => netns ?? [])))
    await reachNetns(path).catch((error: unknown) => {
      if (!(error instanceof Problem)) throw error
    })
}

/** What is to be adopted, whoever found it. */
export type ImportCall = Omit<ImportRequest, 'source'> & {
  readonly source: string
  readonly supersedes?: ImportTerms['supersedes']
}

/**
 * Adopts addresses that another IPAM gave, or says only what would become of them. Each sandbox, with all of its addresses,
 * is one change; when this rejects half-way, what is adopted stays so, and doing it again goes on from there.
 *
 * @throws IPK_REQUEST_INVALID, or what the store says
 */
export async function importAllocations(
  service: LeaseService,
  { namespaceAt, reachNetns }: Pick<NodeFacts, 'namespaceAt' | 'reachNetns'>,
  request: ImportCall,
): Promise<ImportReply> {
  const { ledger, node, bootId, ownerOf } = service
  const { found, apply, source, supersedes = false } = request
  await reachAll(found, reachNetns)
  const terms: ImportTerms = {
    ...{ source, supersedes },
    segment: readSegment(request.segment),
    retain: readRetain(request.retain),
    networks: readRanges(request.networks),
    pools: service.pools(),
    poolOf: parsedOnce(),
    ...{ node, bootId, namespaceAt, ownerOf },
    now: service.now(),
    monotonic: service.monotonic(),
  }
  const claims = claimedTwice(found, one => fateOf(one, namespaceAt).kind === 'gone')
  const { groups, nobodys } = groupFound(found, terms)
  const decisions = new Map(nobodys)
  const plan = (group: FoundGroup): ImportPlan => planImport(ledger, found, group, { ...terms, claims })
  const decide = async (group: FoundGroup): Promise<void> => {
    const id = group.key ? attachmentKey(group.key) : holderKey(group.holder)
    const made = apply
      ? await service.serial.run(id, () => commitPlan(ledger, () => plan(group), group.holder))
      : plan(group)
    group.members.forEach((member, index) => {
      const decision = made.decisions[index]
      if (decision) decisions.set(member, decision)
    })
  }
  for (let done = 0; done < groups.length; done += adoptedAtOnce) {
    await Promise.all(groups.slice(done, done + adoptedAtOnce).map(decide))
    // Where nothing is to be written, nothing else gives others their turn.
    await nextTurn()
  }
  return {
    node,
    applied: apply,
    items: found.flatMap((one, index) => {
      const decision = decisions.get(index)
      return decision ? [itemOf(one, terms.segment, decision)] : []
    }),
  }
}

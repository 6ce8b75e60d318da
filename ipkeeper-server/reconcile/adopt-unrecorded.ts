import type { ImportItem } from '../../shared/api/import.schema.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { BackgroundTask } from '../host/background-task.ts'
import { incarnationOf, type AttachmentRecord, type LeaseKey } from '../ipam/records/records.ts'
import { delAttachment } from '../leases/verbs/del.ts'
import { endHalfDeleted } from '../leases/verbs/half-deleted.ts'
import { importAllocations } from '../leases/verbs/import.ts'
import type { NodeFacts } from '../leases/verbs/invocation.ts'
import type { LeaseService } from '../leases/verbs/service.ts'
import {
  allocationsOf,
  rangesOf,
  unrecordedResults,
  type KeptResult,
  type UnrecordedResult,
} from '../migrate/plan/unrecorded-results.ts'

/** Milliseconds until the next try of what is in conflict, or is not certain before all nodes have reported. */
const pauseAfterConflict = 5_000

/** Milliseconds until the next try of what could not be written: as soon as it can be, others may be given it. */
const pauseAfterFailure = 1_000

/** Milliseconds until it is looked again whether a former machine of this node's name may still run something under it. */
const pauseForFormers = 60_000

/** Of the history of an address: sandboxes that a runtime keeps are among its last ones. */
const entriesLookedAt = 200

export interface UnrecordedOptions {
  readonly facts: Pick<NodeFacts, 'namespaceAt' | 'reachNetns'>
  /** What runtimes have kept of ADDs for which the plugin used this state folder. */
  readonly results: () => Promise<readonly KeptResult[]>
}

export interface AdoptUnrecordedOptions extends UnrecordedOptions {
  readonly service: LeaseService
  readonly onAdopted: (item: ImportItem) => void
  /** Told once. */
  readonly onRefused: (item: ImportItem) => void
  readonly onError: (error: unknown) => void
}

/** When a sandbox was given what it has; whatever the clock says, it is the last one where the ledger still has that. */
const givenAt = ({ result, isLost }: UnrecordedResult): number => (isLost ? Infinity : result.modifiedAt)

const shareAddress = (one: UnrecordedResult, other: UnrecordedResult): boolean =>
  other.segment === one.segment &&
  other.result.addresses.some(address => one.result.addresses.includes(address))

/**
 * Whether an address was given to nobody else after that. To the later one it was given because the earlier one had lost it, though that may
 * not be gone yet.
 */
function isLatest(one: UnrecordedResult, place: number, all: readonly UnrecordedResult[]): boolean {
  const isLater = (other: UnrecordedResult, otherPlace: number): boolean =>
    givenAt(other) === givenAt(one) ? otherPlace > place : givenAt(other) > givenAt(one)
  return !all.some((other, otherPlace) => shareAddress(one, other) && isLater(other, otherPlace))
}

/** No earlier sandbox may take from the last one what that has, though its result seems later by a clock that was set back. */
function comparedSince(one: UnrecordedResult, all: readonly UnrecordedResult[]): number {
  const others = all.filter(other => shareAddress(one, other))
  return Math.max(...others.map(({ result }) => result.modifiedAt))
}

/** Results of sandboxes that live, of which nothing is on record, or not all. */
export async function livingUnrecorded(
  { ledger, tombstones }: Pick<LeaseService, 'ledger' | 'tombstones'>,
  { facts, results }: UnrecordedOptions,
): Promise<readonly UnrecordedResult[]> {
  const living: UnrecordedResult[] = []
  for (const one of unrecordedResults(ledger, await results()))
    if (!(await hasEnded(one, { ledger, tombstones })) && (await lives(one.result, facts))) living.push(one)
  return living
}

/**
 * What runs and is not on record. `known to the store`: that has a lease of such an address, which bears the name of a node. Of others, such as
 * those of a fallback, there is nothing that another machine could end.
 */
export type Unrecorded = 'nothing' | 'unknown to the store' | 'known to the store'

export function unrecordedOf(
  ledger: Pick<LeaseService['ledger'], 'lease'>,
  living: readonly UnrecordedResult[],
): Unrecorded {
  if (living.length === 0) return 'nothing'
  const isKnown = living.some(({ segment, result }) =>
    result.addresses.some(address => ledger.lease({ segment, address }) !== undefined),
  )
  return isKnown ? 'known to the store' : 'unknown to the store'
}

/** What the ledger has ended itself, such as by force, is no pod that it does not know, though its runtime may keep it yet. */
async function hasEnded(
  { key, segment, result, isLost }: UnrecordedResult,
  { ledger, tombstones }: Pick<LeaseService, 'ledger' | 'tombstones'>,
): Promise<boolean> {
  if (isLost) return false
  if (tombstones.has(key)) return true
  for (const address of result.addresses) {
    const entries = await ledger.history({ segment, address, limit: entriesLookedAt })
    if (entries.some(({ containerId }) => containerId === key.containerId)) return true
  }
  return false
}

/** Only proof counts: a result that was left behind would have its address adopted at each start. */
async function lives(
  { netns }: KeptResult,
  { namespaceAt, reachNetns }: UnrecordedOptions['facts'],
): Promise<boolean> {
  if (netns === null) return false
  try {
    await reachNetns(netns)
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
  const [seen, own] = [namespaceAt(netns), namespaceAt('/proc/self/ns/net')]
  // The number of a process may be another one's by now.
  return seen.kind === 'namespace' && !(own.kind === 'namespace' && own.inode === seen.inode)
}

/**
 * Takes up again what sandboxes that live were given by a ledger which is not this one: a state folder of yesterday was put
 * back, or another store was in use in between. The ledger is whole, and yet it would give their addresses to others.
 */
export class AdoptUnrecorded {
  readonly #options: AdoptUnrecordedOptions
  readonly #told = new Set<string>()
  readonly #task: BackgroundTask
  /** Whether something that lives is in none of the pools. */
  #hasUnfit = false

  constructor(options: AdoptUnrecordedOptions) {
    this.#options = options
    this.#task = new BackgroundTask({
      round: () => this.#round(),
      onError: options.onError,
      retryAfter: pauseAfterFailure,
    })
  }

  /** To be awaited before the first ADD. Never rejects. */
  async begin(): Promise<void> {
    await this.#task.run()
  }

  /** To be called when other pools are in force: what had no place may have one now. Never rejects. */
  async poolsChanged(): Promise<void> {
    if (this.#hasUnfit) await this.#task.run()
  }

  async stop(): Promise<void> {
    await this.#task.stop()
  }

  async #round(): Promise<number | undefined> {
    const { service } = this.#options
    const { ledger } = service
    const isFinal = ledger.haveAllTold()
    const living = await livingUnrecorded(service, this.#options)
    const latest = living.filter(isLatest)
    // Should it turn out that the later of two has ended, the other one has the address.
    let isContested = latest.length < living.length
    this.#hasUnfit = false
    for (const [segment, group] of Map.groupBy(latest, one => one.segment)) {
      for (const address of group.flatMap(({ result }) => result.addresses))
        await this.#endDeadOwner({ segment, address })
      const items = await this.#adopt(segment, group, living)
      isContested ||= items.some(item => this.#isOthers(item))
      this.#hasUnfit ||= items.some(({ verdict }) => verdict === 'unfit')
    }
    if (!isContested || isFinal) ledger.tookUp()
    if (isContested || !isFinal) return pauseAfterConflict
    return (await endHalfDeleted(service)) ? pauseForFormers : undefined
  }

  /** Who had the address by an older ledger may have died since: it came free then, and was given to the one that lives. */
  async #endDeadOwner(key: LeaseKey): Promise<void> {
    const { service } = this.#options
    const { ledger, node, liveness } = service
    const owner = ledger.lease(key)?.attachment
    const attachment = owner && ledger.attachment(owner)
    const isDead = (one: AttachmentRecord): boolean => one.node === node && liveness(one) === 'dead'
    if (!attachment || !isDead(attachment)) return
    const { bootId, startedAt } = attachment
    const began = startedAt === null || bootId === null ? undefined : { bootId, startedAt }
    const isMeant = (present: AttachmentRecord): boolean =>
      incarnationOf(present) === incarnationOf(attachment) && isDead(present)
    await delAttachment(service, attachment, began, { isMeant, by: 'sweeper' })
  }

  /** Whether another sandbox has it, which may be of the same pod. */
  #isOthers({ verdict, segment, address, containerId }: ImportItem): boolean {
    const { ledger } = this.#options.service
    const owner = ledger.lease({ segment, address })?.attachment
    return verdict === 'conflict' || (verdict === 'ours' && owner?.containerId !== containerId)
  }

  async #adopt(
    segment: string,
    group: readonly UnrecordedResult[],
    living: readonly UnrecordedResult[],
  ): Promise<readonly ImportItem[]> {
    const { service, facts, onAdopted, onRefused } = this.#options
    const { items } = await importAllocations(service, facts, {
      ...{ source: 'result-cache', apply: true, segment, supersedes: true },
      networks: group.flatMap(rangesOf),
      found: group.flatMap(one => allocationsOf(one, comparedSince(one, living))),
    })
    for (const item of items) {
      const id = `${item.origin} ${item.address}`
      if (item.verdict === 'adopt') onAdopted(item)
      else if ((item.verdict === 'unfit' || this.#isOthers(item)) && !this.#told.has(id)) {
        this.#told.add(id)
        onRefused(item)
      }
    }
    return items
  }
}

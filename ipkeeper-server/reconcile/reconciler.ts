import { BackgroundTask } from '../host/background-task.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditReply, AuditWitness, Finding } from '../../shared/api/audit.schema.ts'
import type { FindingKind } from '../../shared/findings.ts'
import { parseAddress } from '../../shared/net/address.ts'
import { withoutPrefix } from '../../shared/net/address-text.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { ageOf } from '../ipam/records/times.ts'
import { locateAddress } from '../ipam/pools/pool-record.ts'
import {
  attachmentKey,
  incarnationOf,
  sameAttachment,
  type AttachmentRecord,
  type LeaseRecord,
} from '../ipam/records/records.ts'
import { delAttachment } from '../leases/verbs/del.ts'
import { markMadeBy } from '../leases/verbs/attachment-notes.ts'
import type { NodeAudit } from '../leases/queries/node-audit.ts'
import { ageClock, type LeaseService } from '../leases/verbs/service.ts'
import type { ContainerRuntimes, RuntimeAnswer } from '../runtime/sandboxes.ts'
import { needsPods, seesNoNamespaces } from './plan-attachments.ts'
import { planReconcile, type Doubts, type Planned } from './plan-reconcile.ts'
import type {
  Looked,
  NodeSnapshot,
  PooledSandbox,
  SeenAttachment,
  SeenElsewhere,
  SeenFalseAnswer,
  SeenLostNode,
  SeenLink,
  SeenPod,
} from './plan-snapshot.ts'
import type { ReconcileTerms } from './plan-terms.ts'

/** So many attachments are looked at before others have their turn of the event loop. */
const lookedAtOnce = 100
/** So many are ended, or asked for, side by side: an ADD that comes in between waits for a few milliseconds. */
const width = 4
/** Milliseconds from the start to the first pass, which has to read every record there is. */
const firstPassAfter = 5_000
/** Milliseconds after which addresses that agreed are compared again. */
const compareEvery = 300_000
/** In one pass, so many attachments are compared whose turn it is: each costs a program in its namespace. */
const comparedAtOnce = 8

export interface ReconcilerOptions {
  readonly service: LeaseService
  /** As configured now. */
  readonly terms: () => ReconcileTerms
  readonly death: (attachment: AttachmentRecord) => 'boot' | 'namespace' | undefined
  /** Sees to it that `death` of these does not wait for a file system that hangs. */
  readonly reach: (attachments: readonly AttachmentRecord[]) => Promise<void>
  readonly runtimes: ContainerRuntimes
  /** The veths of the host. */
  readonly links: () => Promise<readonly SeenLink[]>
  /** Removes that very link; resolves to whether it was still there. */
  readonly removeLink: (link: SeenLink) => Promise<boolean>
  /** What the kernel has on the interface of an attachment; undefined where that cannot be known. */
  readonly kernelAddresses: (attachment: AttachmentRecord) => Promise<readonly string[] | undefined>
  /** Pods of this node, asked of the API now; undefined where no API is configured. */
  readonly pods: (() => Promise<readonly SeenPod[]>) | undefined
  /** What lost nodes have left; absent where this node has its store to itself. */
  readonly lostNodes?: LostLeases
  /** Pods that lately answered for what was not theirs; absent where nobody asks. */
  readonly falseAnswers?: () => readonly SeenFalseAnswer[]
  /** What looks of others last gave, for the audit. */
  readonly otherLooks: () => readonly AuditWitness[]
  /** Told once for each finding that is certain and stays. */
  readonly onFound: (finding: Finding) => void
  readonly onRepaired: (finding: Finding) => void
  readonly onError: (error: unknown) => void
}

/** Looks for what nodes that are gone have left in a ledger that nodes share. */
export interface LostLeases {
  look(): Promise<readonly SeenElsewhere[]>
  /** Nodes that are lost, and of which there is only to tell; `asked`: somebody wants to know. */
  told(asked: boolean): readonly SeenLostNode[]
  /** Whether at this very moment its node is gone, and it is this daemon that ends what it has left. */
  mayEnd(attachment: AttachmentRecord): boolean
}

/** How far a look goes. usual: what costs little. whole: everything, for a person who asked. */
type Extent = 'usual' | 'whole'

interface Comparison {
  readonly at: number
  readonly kernel: readonly string[] | undefined
}

/**
 * Compares the attachments of this node with its runtimes, namespaces, links and pods, again and again, and ends what is
 * certainly dead. What is certain, the plan decides (plan-reconcile.ts); here it is only looked and done. A pass costs
 * one call of each runtime, one program for the links, and two system calls for each attachment.
 */
export class Reconciler implements NodeAudit {
  readonly #options: ReconcilerOptions
  #doubts: Doubts = new Map()
  /** What was last found, by its key. */
  #findings = new Map<string, Planned>()
  readonly #repaired = new Map<FindingKind, number>()
  /** Addresses that runtimes told of sandboxes that are not ours; they do not change. */
  readonly #foreignAddresses = new Map<string, readonly string[]>()
  readonly #compared = new Map<string, Comparison>()
  #podsAskedAt = -Infinity
  readonly #task: BackgroundTask
  #running: Promise<unknown> = Promise.resolve()
  /** The audit that waits for its turn or is under way. */
  #auditing: Promise<AuditReply> | undefined

  constructor(options: ReconcilerOptions) {
    this.#options = options
    this.#task = new BackgroundTask({
      round: async () => {
        await this.#inTurn(() => this.#pass()).catch(options.onError)
        return options.terms().interval
      },
    })
  }

  /** To be called when the daemon serves. The first pass is no hurry, and ADDs that waited for the daemon come first. */
  start(): void {
    this.#task.wake(Math.min(firstPassAfter, this.#options.terms().interval))
  }

  /** Resolves when nothing is looked at or done any more. */
  async stop(): Promise<void> {
    await this.#task.stop()
    await this.#running
  }

  /** How many findings of each kind are certain at this moment. */
  counts(): ReadonlyMap<FindingKind, number> {
    const certain = [...this.#findings.values()].filter(({ finding }) => finding.state !== 'waiting')
    return new Map(
      [...Map.groupBy(certain, ({ finding }) => finding.kind)].map(([kind, found]) => [kind, found.length]),
    )
  }

  /** How many findings of each kind were repaired since the start. */
  repaired(): ReadonlyMap<FindingKind, number> {
    return this.#repaired
  }

  /** However many ask at a time get one look: each goes into every namespace, and passes wait for it. */
  async audit(): Promise<AuditReply> {
    this.#auditing ??= this.#takeAudit().finally(() => {
      this.#auditing = undefined
    })
    return await this.#auditing
  }

  async #takeAudit(): Promise<AuditReply> {
    return await this.#inTurn(async () => {
      const terms = this.#options.terms()
      const snapshot = await this.#look('whole')
      const { planned } = planReconcile(snapshot, this.#doubts, terms, this.#options.service.monotonic())
      return {
        node: this.#options.service.node,
        mode: terms.mode,
        takenAt: new Date(this.#options.service.now()).toISOString(),
        attachments: snapshot.attachments.length,
        witnesses: [...witnessesOf(snapshot), ...this.#options.otherLooks()],
        findings: planned.map(({ finding }) => finding),
      }
    })
  }

  /** Passes and audits one after another: they share what they remember. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#running.then(work)
    this.#running = turn.catch(() => undefined)
    return await turn
  }

  async #pass(): Promise<void> {
    const { service, terms, onFound } = this.#options
    if (this.#task.isStopped) return
    // An idle daemon notices here that the clock was set.
    service.now()
    if (terms().mode === 'off') {
      this.#doubts = new Map()
      this.#findings = new Map()
      return
    }
    const snapshot = await this.#look('usual')
    const { planned, doubts } = planReconcile(snapshot, this.#doubts, terms(), service.monotonic())
    this.#doubts = doubts
    const before = this.#findings
    this.#findings = new Map(planned.map(one => [one.key, one]))
    for (const { key, finding, action } of planned) {
      const known = before.get(key)?.finding.state ?? 'waiting'
      // What is repaired in this pass is told when it is.
      if (finding.state !== 'waiting' && known === 'waiting' && action.kind === 'none') onFound(finding)
    }
    await inGroups(planned, width, one => this.#act(one))
  }

  async #act({ key, action, finding }: Planned): Promise<void> {
    if (this.#task.isStopped || action.kind === 'none') return
    try {
      const done = await this.#repair(action)
      this.#findings.delete(key)
      if (!done) return
      this.#repaired.set(finding.kind, (this.#repaired.get(finding.kind) ?? 0) + 1)
      this.#options.onRepaired(finding)
    } catch (error) {
      // Nothing more can be written in this pass; one complaint is enough.
      if (error instanceof Problem && error.code === 'IPK_STORE_FAILED') throw error
      this.#options.onError(error)
    }
  }

  /** Whether something was there to be repaired. */
  async #repair(action: Exclude<Planned['action'], { kind: 'none' }>): Promise<boolean> {
    const { service, death, removeLink, lostNodes } = this.#options
    if (action.kind === 'remove-link') return await removeLink(action.link)
    // A machine of this name that is another one may have what looks dead from here.
    if (service.isOurs?.() === false) return false
    const { attachment, proved } = action
    const { bootId, startedAt } = attachment
    // A DEL as old as the attachment itself: whatever was added under its key since is younger.
    const began = startedAt === null || bootId === null ? undefined : { bootId, startedAt }
    // In its turn, since it may have been added anew, or have ended, while this one waited.
    const isMeant = (present: AttachmentRecord): boolean =>
      incarnationOf(present) === incarnationOf(attachment) &&
      (!proved || death(present) !== undefined) &&
      (present.node === service.node || lostNodes?.mayEnd(present) === true)
    const { ended } = await delAttachment(service, attachment, began, { isMeant })
    return ended !== undefined
  }

  async #look(extent: Extent): Promise<NodeSnapshot> {
    const { service } = this.#options
    const attachments = await this.#lookAtAttachments(extent)
    const runtimes = await this.#options.runtimes.list()
    await this.#rememberMakers(attachments, runtimes)
    const attachedSince = new Set(Array.from(service.ledger.attachments(), ({ containerId }) => containerId))
    const pooledSandboxes = await this.#pooled(runtimes, attachedSince)
    const links = await this.#lookAtLinks()
    const namedLinks = new Set<string>()
    for (const { wiring } of service.ledger.attachments())
      if (wiring?.hostLink) namedLinks.add(wiring.hostLink.name)
    const pods = await this.#lookAtPods(extent, attachments, runtimes)
    const elsewhere = (await this.#options.lostNodes?.look()) ?? []
    const misnamed = [...service.ledger.attachments()]
      .filter(record => record.node !== service.node)
      .map(record => ({ record, leases: service.ledger.leasesOf(record) }))
    const lostNodes = this.#options.lostNodes?.told(extent === 'whole') ?? []
    const falseAnswers = this.#options.falseAnswers?.() ?? []
    const own = await service.ownAddresses?.()
    return {
      ...{ attachments, misnamed, runtimes, attachedSince, pooledSandboxes, links, namedLinks, pods },
      ...{ elsewhere, lostNodes, falseAnswers, ...(own && { own }) },
      unrecorded: this.#lookForUnrecorded(attachments),
    }
  }

  /** Leases are looked through only where there are more than attachments have. */
  #lookForUnrecorded(attachments: readonly SeenAttachment[]): readonly LeaseRecord[] {
    const { ledger, node } = this.#options.service
    const recorded = attachments.flatMap(({ leases }) => leases.filter(({ state }) => state === 'bound'))
    if (ledger.boundOn(node) <= recorded.length) return []
    const word = `"node":${JSON.stringify(node)}`
    return [...ledger.search('lease', text => text.includes(word))].filter(
      ({ state, node: its, attachment }) =>
        state === 'bound' && its === node && attachment !== null && !ledger.hasAttachment(attachment),
    )
  }

  async #lookAtAttachments(extent: Extent): Promise<readonly SeenAttachment[]> {
    const { service, death, reach } = this.#options
    const { ledger, node } = service
    const own = [...ledger.attachments()].filter(attachment => attachment.node === node)
    await reach(own)
    const known = new Set(own.map(attachmentKey))
    for (const key of this.#compared.keys()) if (!known.has(key)) this.#compared.delete(key)
    const seen: SeenAttachment[] = []
    for (const [index, record] of own.entries()) {
      if (index % lookedAtOnce === lookedAtOnce - 1) await nextTurn()
      const leases = ledger.leasesOf(record)
      seen.push({
        record,
        leases,
        current: sameAttachment(ledger.holder(record.holder)?.attachment ?? null, record),
        death: death(record),
        age: ageOf(record, ageClock(service)),
        kernel: undefined,
      })
    }
    const living = seen.filter(({ death: dead, leases }) => dead === undefined && leases.length > 0)
    await inGroups(extent === 'whole' ? living : this.#toCompare(living), width, one => this.#compare(one))
    return seen.map(one => ({ ...one, kernel: this.#compared.get(attachmentKey(one.record))?.kernel }))
  }

  /** What did not agree, and some of those that were never compared, or long ago. */
  #toCompare(living: readonly SeenAttachment[]): readonly SeenAttachment[] {
    const now = this.#options.service.monotonic()
    const differing: SeenAttachment[] = []
    const due: { readonly at: number; readonly seen: SeenAttachment }[] = []
    for (const seen of living) {
      const last = this.#compared.get(attachmentKey(seen.record))
      const agrees = seen.leases.every(
        ({ address, prefixLength }) => last?.kernel?.includes(`${address}/${prefixLength}`) ?? true,
      )
      if (!agrees) differing.push(seen)
      else if (!last || now - last.at >= compareEvery) due.push({ at: last?.at ?? -Infinity, seen })
    }
    const longest = due.sort((a, b) => a.at - b.at).slice(0, comparedAtOnce)
    return [...differing, ...longest.map(({ seen }) => seen)]
  }

  async #compare({ record }: SeenAttachment): Promise<void> {
    const { service, kernelAddresses, onError } = this.#options
    const key = attachmentKey(record)
    try {
      this.#compared.set(key, { at: service.monotonic(), kernel: await kernelAddresses(record) })
    } catch (error) {
      this.#compared.set(key, { at: service.monotonic(), kernel: undefined })
      if (!isMissingTool(error)) onError(error)
    }
  }

  /** Only a runtime that had a sandbox is believed when it no longer tells of it. */
  async #rememberMakers(
    attachments: readonly SeenAttachment[],
    runtimes: readonly RuntimeAnswer[],
  ): Promise<void> {
    const makers = new Map<string, string>()
    for (const answer of runtimes)
      if (answer.state === 'listed') for (const { id } of answer.sandboxes) makers.set(id, answer.socket)
    const unmarked = attachments.flatMap(({ record }) => {
      const madeBy = makers.get(record.containerId)
      return madeBy === undefined || madeBy === record.madeBy ? [] : [{ record, madeBy }]
    })
    await markMadeBy(this.#options.service, unmarked)
  }

  /** Ready sandboxes that are not ours, and have an address of a pool. */
  async #pooled(
    runtimes: readonly RuntimeAnswer[],
    attached: ReadonlySet<string>,
  ): Promise<readonly PooledSandbox[]> {
    const foreign = runtimes.flatMap(answer =>
      answer.state === 'listed'
        ? answer.sandboxes
            .filter(({ id, ready }) => ready && !attached.has(id))
            .map(sandbox => ({ socket: answer.socket, sandbox }))
        : [],
    )
    const listed = new Set(foreign.map(({ sandbox }) => sandbox.id))
    for (const id of this.#foreignAddresses.keys()) if (!listed.has(id)) this.#foreignAddresses.delete(id)
    await inGroups(
      foreign.filter(({ sandbox }) => !this.#foreignAddresses.has(sandbox.id)),
      width,
      async ({ socket, sandbox: { id } }) => {
        // One that just went, or cannot be asked for, is asked for in the next pass.
        const addresses = await this.#options.runtimes.addressesOf(socket, id).catch(() => [])
        if (addresses.length > 0) this.#foreignAddresses.set(id, addresses)
      },
    )
    return foreign.flatMap(({ sandbox }) =>
      (this.#foreignAddresses.get(sandbox.id) ?? []).flatMap(address => {
        const pool = this.#poolOf(address)
        return pool === undefined ? [] : [{ sandbox, address, pool }]
      }),
    )
  }

  #poolOf(text: string): string | undefined {
    const { ledger } = this.#options.service
    const address = parseAddress(withoutPrefix(text))
    if (!address) return undefined
    for (const { segment } of ledger.pools()) {
      const place = locateAddress(ledger, segment, address)
      if (place.kind === 'usable') return place.pool
    }
    return undefined
  }

  async #lookAtLinks(): Promise<NodeSnapshot['links']> {
    try {
      return { state: 'asked', found: await this.#options.links() }
    } catch (error) {
      // Where there is no ip, nothing was ever wired.
      return isMissingTool(error) ? { state: 'absent' } : { state: 'failed', reason: textOf(error) }
    }
  }

  async #lookAtPods(
    extent: Extent,
    attachments: readonly SeenAttachment[],
    runtimes: readonly RuntimeAnswer[],
  ): Promise<Looked<readonly SeenPod[]>> {
    const { service, pods } = this.#options
    if (!pods) return { state: 'absent' }
    const differed = [...this.#findings.values()].some(({ finding }) => finding.kind === 'ip-differs')
    const wanted =
      extent === 'whole' ||
      differed ||
      service.monotonic() - this.#podsAskedAt >= compareEvery ||
      needsPods(attachments, runtimes)
    if (!wanted || attachments.length === 0) return { state: 'later' }
    try {
      const found = await pods()
      this.#podsAskedAt = service.monotonic()
      return { state: 'asked', found }
    } catch (error) {
      return { state: 'failed', reason: textOf(error) }
    }
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const isMissingTool = (error: unknown): boolean =>
  error instanceof Problem && error.code === 'IPK_TOOL_MISSING'

/** Some of them side by side; resolves when all have ended. What throws ends the rest. */
async function inGroups<T>(
  items: readonly T[],
  size: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: Math.min(size, items.length) }, async () => {
      for (const item of queue) await work(item)
    }),
  )
}

/** Who was asked, and what came of it. */
function witnessesOf(snapshot: NodeSnapshot): AuditWitness[] {
  const { runtimes, attachments, links, pods } = snapshot
  const ofRuntimes = runtimes.map((answer): AuditWitness => {
    const name = `runtime ${answer.socket}`
    if (answer.state === 'failed') return { name, state: 'failed', says: answer.reason }
    const { length } = answer.sandboxes
    return length === 0 && attachments.length > 0
      ? { name, state: 'doubted', says: 'it lists no sandbox at all, though there are attachments' }
      : { name, state: 'asked', says: `${length} sandboxes` }
  })
  const blind = seesNoNamespaces(snapshot)
  return [
    ...(ofRuntimes.length > 0
      ? ofRuntimes
      : [{ name: 'runtime', state: 'absent' as const, says: 'no socket of containerd or CRI-O is there' }]),
    blind
      ? {
          name: 'network namespaces',
          state: 'doubted',
          says: 'those of all running sandboxes seem to be gone: the daemon may not see /run/netns',
        }
      : { name: 'network namespaces', state: 'asked', says: `${attachments.length} looked at` },
    looked('host links', links, 'no ip is installed, so nothing was wired', found => `${found.length} veths`),
    pods.state === 'asked' && pods.found.length === 0 && attachments.length > 0
      ? {
          name: 'Kubernetes API',
          state: 'doubted',
          says: 'it lists no pod of this node: is "node" in the configuration the name of its Node?',
        }
      : looked('Kubernetes API', pods, 'not configured', found => `${found.length} pods of this node`),
  ]
}

function looked<T>(
  name: string,
  look: Looked<T>,
  absent: string,
  describe: (found: T) => string,
): AuditWitness {
  switch (look.state) {
    case 'asked':
      return { name, state: 'asked', says: describe(look.found) }
    case 'absent':
      return { name, state: 'absent', says: absent }
    case 'later':
      return { name, state: 'absent', says: 'not asked in this pass' }
    case 'failed':
      return { name, state: 'failed', says: look.reason }
  }
}

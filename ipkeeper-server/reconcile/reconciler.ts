import { setImmediate as nextTurn } from 'node:timers/promises'
import { BackgroundTask } from '../host/background-task.ts'
import type { AuditReply, AuditWitness, Finding } from '../../shared/api/audit.schema.ts'
import type { FindingKind } from '../../shared/findings.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { incarnationOf, type AttachmentRecord } from '../ipam/records/records.ts'
import { delAttachment } from '../leases/verbs/del.ts'
import type { NodeAudit } from '../leases/queries/node-audit.ts'
import { inGroups, NodeLook, callsAtOnce, witnessesOf, type NodeLookOptions } from './node-look.ts'
import {
  planInTurns,
  planReconcile,
  type Doubts,
  type Planned,
  type ReconcilePlan,
} from './plan-reconcile.ts'
import type { NodeSnapshot, SeenVeth } from './plan-snapshot.ts'
import type { ReconcileSettings } from './plan-settings.ts'

/** Milliseconds from the start to the first pass, which has to read every record there is. */
const firstPassAfter = 5_000

/** With no more attachments than these, all rules together take a few milliseconds. */
const plannedAtOnce = 500

export interface ReconcilerOptions extends NodeLookOptions {
  /** As configured now. */
  readonly settings: () => ReconcileSettings
  /** Removes that very link; resolves to whether it was still there. */
  readonly removeLink: (link: SeenVeth) => Promise<boolean>
  /** Results of other probes, for the audit. */
  readonly otherLooks: () => readonly AuditWitness[]
  /** Called once for each finding that is certain and stays. */
  readonly onFound: (finding: Finding) => void
  readonly onRepaired: (finding: Finding) => void
  /** Each pass begins, whatever the mode: an idle daemon notices here what nobody tells it. */
  readonly onPass?: () => void
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
  readonly #look: NodeLook
  readonly #task: BackgroundTask
  #running: Promise<unknown> = Promise.resolve()
  /** The audit that waits for its turn or is under way. */
  #auditing: Promise<AuditReply> | undefined

  constructor(options: ReconcilerOptions) {
    this.#options = options
    this.#look = new NodeLook(options)
    this.#task = new BackgroundTask({
      round: async () => {
        await this.#inTurn(() => this.#pass()).catch(options.onError)
        return options.settings().interval
      },
    })
  }

  /** To be called when the daemon serves. The first pass is no hurry, and ADDs that waited for the daemon come first. */
  start(): void {
    this.#task.wake(Math.min(firstPassAfter, this.#options.settings().interval))
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
      const settings = this.#options.settings()
      const snapshot = await this.#look.take('whole', this.#addressesDiffer())
      const { planned } = await this.#plan(snapshot, settings)
      return {
        node: this.#options.service.node,
        mode: settings.mode,
        takenAt: new Date(this.#options.service.now()).toISOString(),
        attachments: snapshot.attachments.length,
        witnesses: [...witnessesOf(snapshot), ...this.#options.otherLooks()],
        findings: planned.map(({ finding }) => finding),
      }
    })
  }

  async #plan(snapshot: NodeSnapshot, settings: ReconcileSettings): Promise<ReconcilePlan> {
    const given = [snapshot, this.#doubts, settings, this.#options.service.monotonic()] as const
    return snapshot.attachments.length > plannedAtOnce
      ? await planInTurns(nextTurn, ...given)
      : planReconcile(...given)
  }

  /** Passes and audits one after another: they share what they remember. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#running.then(work)
    this.#running = turn.catch(() => undefined)
    return await turn
  }

  async #pass(): Promise<void> {
    const { service, settings, onFound, onPass } = this.#options
    if (this.#task.isStopped) return
    // An idle daemon notices here that the clock was set.
    service.now()
    onPass?.()
    if (settings().mode === 'off') {
      this.#doubts = new Map()
      this.#findings = new Map()
      return
    }
    const snapshot = await this.#look.take('usual', this.#addressesDiffer())
    const { planned, doubts } = await this.#plan(snapshot, settings())
    this.#doubts = doubts
    const before = this.#findings
    this.#findings = new Map(planned.map(one => [one.key, one]))
    for (const { key, finding, action } of planned) {
      const known = before.get(key)?.finding.state ?? 'waiting'
      // What is repaired in this pass is told when it is.
      if (finding.state !== 'waiting' && known === 'waiting' && action.kind === 'none') onFound(finding)
    }
    await inGroups(planned, callsAtOnce, one => this.#act(one))
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
    const invocationStart = startedAt === null || bootId === null ? undefined : { bootId, startedAt }
    // Checked in its turn: it may have been added again, or have ended, while this one waited.
    const isMeant = (present: AttachmentRecord): boolean =>
      incarnationOf(present) === incarnationOf(attachment) &&
      (!proved || death(present) !== undefined) &&
      (present.node === service.node || lostNodes?.mayEnd(present) === true)
    const { ended } = await delAttachment(service, attachment, invocationStart, { isMeant, by: 'sweeper' })
    return ended !== undefined
  }

  #addressesDiffer(): boolean {
    return [...this.#findings.values()].some(({ finding }) => finding.kind === 'ip-differs')
  }
}

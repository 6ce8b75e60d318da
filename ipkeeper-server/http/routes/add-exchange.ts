import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CniRequest } from '../../../shared/api/cni.schema.ts'
import type { CniArgs, ParsedCniArgs } from '../../../shared/cni/cni-args.ts'
import { encodeResult } from '../../../shared/cni/result.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import type { AddPlan } from '../../ipam/plan/plan-add.ts'
import { tookOver } from '../../ipam/choose/plan-takeover.ts'
import type { AddRequest } from '../../ipam/request/add-request.ts'
import type { AddPlace, NamedPod, TellPod } from '../../leases/tasks/pod-events.ts'
import { addAttachment } from '../../leases/verbs/add.ts'
import { undoAdd } from '../../leases/verbs/undo-add.ts'
import { parseInvocation, type Invocation } from '../../leases/verbs/invocation.ts'
import type { RequestReader } from '../../leases/verbs/request-reader.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'
import type { VerbObserver } from '../../leases/verbs/verb-observer.ts'

export interface AddExchangeOptions {
  readonly service: LeaseService
  readonly requests: RequestReader
  /** Tells the pod what became of its ADD; never waits and never fails. */
  readonly tellPod: TellPod
  /** Called before an ADD of that run is decided. */
  readonly askedAgain: (invocationId: string | undefined) => Promise<void>
  readonly observer: VerbObserver
}

/** What the reply to an ADD says, apart from what every reply has (AddReply). */
type Answer =
  { readonly result: ReturnType<typeof encodeResult> } | { readonly delegate: { readonly type: string } }

/** The pod that the runtime names; undefined for a container without one. */
function podOf({ podNamespace, podName, podUid }: CniArgs): NamedPod | undefined {
  if (podNamespace === undefined || podName === undefined) return undefined
  return { namespace: podNamespace, name: podName, uid: podUid ?? null }
}

/** One ADD from its request to its reply. It is undone when the client goes away without the reply. */
export class AddExchange {
  readonly #options: AddExchangeOptions
  readonly #request: FastifyRequest<{ Body: CniRequest }>
  readonly #args: ParsedCniArgs
  readonly #pod: NamedPod | undefined
  readonly #place: AddPlace
  #gone = false
  #committed: { readonly add: AddRequest; readonly generation: number } | undefined

  /** To be made before anything is waited for: a client that goes away earlier would be missed. */
  constructor(
    request: FastifyRequest<{ Body: CniRequest }>,
    reply: FastifyReply,
    args: ParsedCniArgs,
    options: AddExchangeOptions,
  ) {
    this.#options = options
    this.#request = request
    this.#args = args
    this.#pod = podOf(args.args)
    const { ifname, config } = request.body
    this.#place = { ifname, network: config['name'] }
    let answered = false
    reply.raw.once('finish', () => (answered = true))
    reply.raw.once('close', () => {
      if (!answered) this.#abandon()
    })
  }

  async answer(): Promise<Answer> {
    const { service, askedAgain } = this.#options
    await askedAgain(this.#request.body.invocationId)
    const { invocation, add } = await this.#orTellPod(() => this.#read())
    const plan = await this.#orTellPod(() => addAttachment(service, add, { gone: () => this.#gone }))
    this.#committed = { add, generation: plan.generation }
    return this.#report(invocation, add, plan)
  }

  async #read(): Promise<{ readonly invocation: Invocation; readonly add: AddRequest }> {
    const invocation = parseInvocation(this.#request.body, this.#args)
    return { invocation, add: await this.#options.requests.read(invocation) }
  }

  /** Undoes what was committed. Before its commit, addAttachment looks itself whether the client has gone. */
  #abandon(): void {
    this.#gone = true
    if (this.#committed === undefined) return
    const { service, observer } = this.#options
    const { log } = this.#request
    undoAdd(service, this.#committed.add, this.#committed.generation).then(
      undone => {
        if (!undone) return
        observer.undone('client_gone')
        log.warn('the client disconnected before it got its answer; the ADD was undone')
      },
      (error: unknown) => {
        log.error({ err: error }, 'undoing an abandoned ADD failed; the DEL that follows will undo it')
      },
    )
  }

  /** Passes a problem on, having told it to the pod. */
  async #orTellPod<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (error) {
      // An interrupted ADD has no reader any more, and no pod is to blame for a bug.
      if (this.#pod && error instanceof Problem && error.code !== 'IPK_INTERRUPTED')
        this.#options.tellPod(this.#pod, { problem: error }, this.#place)
      throw error
    }
  }

  /** Counts and logs what was committed, tells the pod, and makes the reply. */
  #report({ network }: Invocation, add: AddRequest, { answer, reasons, change, repeated }: AddPlan): Answer {
    const { observer, tellPod } = this.#options
    const { log } = this.#request
    const former = repeated ? undefined : tookOver(change)
    if (former) observer.tookOver(former)
    const { ignored: lower, unread } = add.pod
    const ignored = { ...(lower.length > 0 && { ignored: lower }), ...(unread && { unread }) }
    if (answer.kind === 'delegate') {
      const given = add.given.length > 0 && { given: add.given }
      log.info({ delegatedTo: answer.type, reasons, ...given, ...ignored }, 'left to the fallback')
      return { delegate: { type: answer.type } }
    }
    const addresses = answer.result.ips.map(ip => ip.address)
    log.info({ addresses, reasons, ...ignored }, 'added')
    if (this.#pod) tellPod(this.#pod, { addresses, reasons }, this.#place)
    return { result: encodeResult(answer.result, network.version) }
  }
}

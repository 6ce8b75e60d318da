import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AddReply, CniRequest, DoneReply, ErrorReply } from '../../../shared/api/cni.schema.ts'
import { parseCniArgs } from '../../../shared/cni/cni-args.ts'
import { encodeResult } from '../../../shared/cni/result.ts'
import { statePulse } from '../../../shared/state-pulse.ts'
import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import { readIdentity, readValidAttachments } from '../../ipam/request/network-config.ts'
import type { AddRequest } from '../../ipam/request/add-request.ts'
import { tookOver } from '../../ipam/choose/plan-takeover.ts'
import { addAttachment, undoAdd } from '../../leases/verbs/add.ts'
import { checkAttachment } from '../../leases/verbs/check.ts'
import { delAttachment } from '../../leases/verbs/del.ts'
import { collectGarbage } from '../../leases/verbs/gc.ts'
import {
  interpretBegan,
  interpretCheck,
  interpretKey,
  interpretRemains,
  interpretStatus,
  type NodeFacts,
} from '../../leases/verbs/interpret-request.ts'
import type { RequestReader } from '../../leases/verbs/request-reader.ts'
import type { LeaseService } from '../../leases/verbs/service.ts'
import type { NamedPod, TellPod } from '../../leases/tasks/pod-events.ts'
import type { ObservedVerb, VerbObserver } from '../../leases/verbs/verb-observer.ts'
import { checkAvailability } from '../../leases/verbs/status.ts'

export interface CniRoutesOptions {
  readonly service: LeaseService
  readonly stateDir: string
  /** "DEV:INO" of it. */
  readonly stateFolder: string | undefined
  /** Whether the state folder takes writes now (shared/state-pulse.ts); never waits for long. */
  readonly stateFolderBeats: () => Promise<boolean>
  readonly facts: NodeFacts
  readonly requests: RequestReader
  /** Tells the pod what became of its ADD; never waits and never fails. */
  readonly tellPod: TellPod
  /** Called before an ADD of that run is decided. */
  readonly askedAgain: (invocationId: string | undefined) => Promise<void>
  readonly observer: VerbObserver
  /** Milliseconds; as configured for the sweeper now. */
  readonly minAgeUnproved: () => number
}

type Body = CniRequest

/** Puts container and pod on every log line of the request. */
function nameRequest(request: FastifyRequest<{ Body: Body }>, verb: string): void {
  const { containerId, ifname, config, args } = request.body
  const pod = parseCniArgs(args, { lenient: true })
  const name = pod.podName === undefined ? undefined : `${pod.podNamespace ?? ''}/${pod.podName}`
  request.log = request.log.child({ verb, containerId, ifname, network: config['name'], pod: name })
}

/** The pod that the runtime names; undefined for a container without one. */
function podOf({ args }: Body): NamedPod | undefined {
  const { podNamespace, podName, podUid } = parseCniArgs(args, { lenient: true })
  if (!podNamespace || !podName) return undefined
  return { namespace: podNamespace, name: podName, uid: podUid || null }
}

const response = { 400: ErrorReply, 409: ErrorReply, 500: ErrorReply, 503: ErrorReply }

/** POST /v1/cni/{add,check,del,gc,status}: translate only; the rules are in leases/ and ipam/. */
export function cniRoutes(app: FastifyInstance, options: CniRoutesOptions): void {
  const {
    service,
    stateDir,
    stateFolder,
    stateFolderBeats,
    facts,
    requests,
    tellPod,
    askedAgain,
    observer,
    minAgeUnproved,
  } = options
  /** Passes a problem on, having told it to the pod. */
  const toldToPod = async <T>(pod: NamedPod | undefined, step: () => Promise<T>): Promise<T> => {
    try {
      return await step()
    } catch (error) {
      // Nobody waits for an interrupted ADD, and no pod is to blame for a bug.
      if (pod && error instanceof Problem && error.code !== 'IPK_INTERRUPTED')
        tellPod(pod, { problem: error })
      throw error
    }
  }

  /** Tells how long a verb took, and how it ended. */
  const observed = async <T>(verb: ObservedVerb, step: () => Promise<T>): Promise<T> => {
    const begun = performance.now()
    const tell = (code: Parameters<VerbObserver['ended']>[1]): void => {
      observer.ended(verb, code, (performance.now() - begun) / 1e3)
    }
    try {
      const done = await step()
      tell('OK')
      return done
    } catch (error) {
      const { code } = toProblem(error)
      tell(code)
      if (code === 'IPK_INTERRUPTED') observer.undone('client_gone')
      throw error
    }
  }

  const post = (
    verb: ObservedVerb,
    handler: (request: FastifyRequest<{ Body: Body }>, reply: FastifyReply) => Promise<object>,
    reply: object = DoneReply,
  ): void => {
    app.post<{ Body: Body }>(
      `/v1/cni/${verb}`,
      {
        schema: { body: CniRequest, response: { 200: reply, ...response } },
        // A runtime polls STATUS every few seconds.
        ...(verb === 'status' && { logLevel: 'warn' }),
        // It goes on beside the verb.
        onRequest: async () => {
          void stateFolderBeats()
          await Promise.resolve()
        },
        onSend: async (_request, reply_) => {
          if (await stateFolderBeats()) void reply_.header(statePulse.header, statePulse.value)
        },
      },
      async (request, response_) => {
        nameRequest(request, verb)
        const done = await observed(verb, () => handler(request, response_))
        return { requestId: request.id, stateDir, ...(stateFolder !== undefined && { stateFolder }), ...done }
      },
    )
  }

  post(
    'add',
    async (request, reply) => {
      let answered = false
      let gone = false
      let committed: { readonly add: AddRequest; readonly generation: number } | undefined = undefined
      reply.raw.once('finish', () => (answered = true))
      // Before anything is waited for, so that no going away is missed.
      reply.raw.once('close', () => {
        if (answered) return
        gone = true
        // Before its commit, addAttachment looks at `gone` itself.
        if (committed === undefined) return
        undoAdd(service, committed.add, committed.generation).then(
          undone => {
            if (!undone) return
            observer.undone('client_gone')
            request.log.warn('the client went away without its answer; the ADD was undone')
          },
          (error: unknown) => {
            request.log.error(
              { err: error },
              'undoing an abandoned ADD failed; the DEL that follows mends it',
            )
          },
        )
      })
      const pod = podOf(request.body)
      await askedAgain(request.body.invocationId)
      const add = await toldToPod(pod, () => requests.read(request.body))
      const { answer, generation, reasons, change, repeated } = await toldToPod(pod, () =>
        addAttachment(service, add, { gone: () => gone }),
      )
      committed = { add, generation }
      const former = repeated ? undefined : tookOver(change)
      if (former) observer.tookOver(former)
      const ignored = add.pod.ignored.length > 0 && { ignored: add.pod.ignored }
      if (answer.kind === 'delegate') {
        const { given } = add
        const confirmed = given.length > 0 ? { given } : {}
        request.log.info(
          { delegatedTo: answer.type, reasons, ...confirmed, ...ignored },
          'left to the fallback',
        )
        return { delegate: { type: answer.type } }
      }
      const addresses = answer.result.ips.map(ip => ip.address)
      request.log.info({ addresses, reasons, ...ignored }, 'added')
      if (pod) tellPod(pod, { addresses, reasons })
      return { result: encodeResult(answer.result, readIdentity(request.body.config).version) }
    },
    AddReply,
  )

  post('check', async request => {
    const { delegatedTo } = await checkAttachment(service, interpretCheck(request.body, service.pools()))
    request.log.info({ delegatedTo }, 'checked')
    return { delegatedTo }
  })

  post('del', async request => {
    const began = interpretBegan(request.body, facts.bootId)
    const { ended, delegatedTo, late, undone } = await delAttachment(
      service,
      interpretKey(request.body),
      began,
      interpretRemains(request.body),
    )
    if (late) observer.lateDel(late)
    if (undone) observer.undone('never_answered')
    const outcome = undone
      ? 'its ADD, whose answer never arrived, was undone'
      : ended
        ? 'deleted'
        : 'nothing to delete'
    request.log.info({ known: ended !== undefined, late, undone }, outcome)
    return { ...(delegatedTo !== undefined && { delegatedTo }) }
  })

  post('gc', async request => {
    const identity = readIdentity(request.body.config)
    const valid = readValidAttachments(request.body.config)
    if (valid === undefined) {
      request.log.info('GC without a list of valid attachments: nothing is touched')
      return {}
    }
    const began = interpretBegan(request.body, request.body.bootId ?? facts.bootId)
    const { ended, problems } = await collectGarbage(
      service,
      { network: identity.name, valid, began },
      minAgeUnproved(),
    )
    request.log.info({ ended: ended.map(attachment => attachment.containerId) }, 'garbage collected')
    if (problems.length > 0) {
      throw new Problem(
        'IPK_STORE_FAILED',
        `GC could not end ${problems.length} attachments: ${problems[0]?.message ?? ''}`,
      )
    }
    return {}
  })

  post('status', async request => {
    await checkAvailability(service, await interpretStatus(request.body, facts, service.pools()))
    return {}
  })
}

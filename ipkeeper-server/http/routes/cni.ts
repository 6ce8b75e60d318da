import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AddReply, CniRequest, DoneReply, ErrorReply } from '../../../shared/api/cni.schema.ts'
import { parseCniArgs, type ParsedCniArgs } from '../../../shared/cni/cni-args.ts'
import { Problem, toProblem } from '../../../shared/problem/problem.ts'
import { statePulse } from '../../../shared/state-pulse.ts'
import { allocationName } from '../../ipam/records/allocation.ts'
import { readIdentity, readValidAttachments } from '../../ipam/request/network-config.ts'
import { checkAttachment, readCheck } from '../../leases/verbs/check.ts'
import { serveDel } from '../../leases/verbs/del.ts'
import { collectGarbage } from '../../leases/verbs/gc.ts'
import { invocationStart, parseInvocation, type NodeFacts } from '../../leases/verbs/invocation.ts'
import { checkAvailability, readStatus } from '../../leases/verbs/status.ts'
import { observedVerbs, type ObservedVerb } from '../../leases/verbs/verb-observer.ts'
import { AddExchange, type AddExchangeOptions } from './add-exchange.ts'

export interface CniRoutesOptions extends AddExchangeOptions {
  readonly stateDir: string
  /** "DEV:INO" of it. */
  readonly stateFolder: string | undefined
  /** Whether the state folder takes writes now (shared/state-pulse.ts); never waits for long. */
  readonly stateFolderBeats: () => Promise<boolean>
  readonly facts: NodeFacts
  /** Milliseconds; as configured for the sweeper now. */
  readonly minAgeUnproved: () => number
}

/** One request of the plugin. */
interface Call {
  readonly request: FastifyRequest<{ Body: CniRequest }>
  readonly reply: FastifyReply
  /** Parsed once, also for the log of a request that is refused. */
  readonly args: ParsedCniArgs
}

/** What a verb does, and what its reply says apart from what every reply has. */
type Verb = (call: Call, options: CniRoutesOptions) => Promise<object>

const check: Verb = async ({ request: { body, log }, args }, { service }) => {
  const { delegatedTo } = await checkAttachment(
    service,
    readCheck(parseInvocation(body, args), service.pools()),
  )
  log.info({ delegatedTo }, 'checked')
  return { delegatedTo }
}

const del: Verb = async ({ request: { body, log }, args }, { service, facts, observer }) => {
  const invocation = parseInvocation(body, args)
  const { ended, delegatedTo, late, undone } = await serveDel(service, invocation, facts.bootId)
  if (late) observer.lateDel(late)
  if (undone) observer.undone('never_answered')
  const outcome = undone
    ? 'its ADD, whose answer never arrived, was undone'
    : ended
      ? 'deleted'
      : 'nothing to delete'
  log.info({ known: ended !== undefined, late, undone }, outcome)
  return { ...(delegatedTo !== undefined && { delegatedTo }) }
}

const gc: Verb = async ({ request: { body, log } }, { service, facts, minAgeUnproved }) => {
  const { name: network } = readIdentity(body.config)
  const valid = readValidAttachments(body.config)
  if (valid === undefined) {
    log.info('GC without a list of valid attachments: nothing is touched')
    return {}
  }
  const began = invocationStart(body, body.bootId ?? facts.bootId)
  const { ended, problems } = await collectGarbage(service, { network, valid, began }, minAgeUnproved())
  log.info({ ended: ended.map(attachment => attachment.containerId) }, 'garbage collected')
  if (problems.length > 0) {
    throw new Problem(
      'IPK_STORE_FAILED',
      `GC could not end ${problems.length} attachments: ${problems[0]?.message ?? ''}`,
    )
  }
  return {}
}

const status: Verb = async ({ request: { body } }, { service, facts }) => {
  await checkAvailability(service, await readStatus(body, facts, service.pools()))
  return {}
}

const verbs: Readonly<Record<ObservedVerb, Verb>> = {
  add: ({ request, reply, args }, options) => new AddExchange(request, reply, args, options).answer(),
  check,
  del,
  gc,
  status,
}

/** Puts container and pod on every log line of the request. */
function nameOnLog({ request, args: { args } }: Call, verb: ObservedVerb): void {
  const { containerId, ifname, config } = request.body
  const { podName, podNamespace = '', nomad } = args
  const pod =
    podName === undefined
      ? nomad && `${nomad.namespace}/${allocationName(nomad)}`
      : `${podNamespace}/${podName}`
  request.log = request.log.child({ verb, containerId, ifname, network: config['name'], pod })
}

/** Counts how long a verb took, and how it ended. */
async function observed<T>(
  { observer }: Pick<CniRoutesOptions, 'observer'>,
  verb: ObservedVerb,
  step: () => Promise<T>,
): Promise<T> {
  const start = performance.now()
  const seconds = (): number => (performance.now() - start) / 1e3
  try {
    const done = await step()
    observer.ended(verb, 'OK', seconds())
    return done
  } catch (error) {
    const { code } = toProblem(error)
    observer.ended(verb, code, seconds())
    if (code === 'IPK_INTERRUPTED') observer.undone('client_gone')
    throw error
  }
}

const errors = { 400: ErrorReply, 409: ErrorReply, 500: ErrorReply, 503: ErrorReply }

/** POST /v1/cni/{add,check,del,gc,status}: translate only; the rules are in leases/ and ipam/. */
export function cniRoutes(app: FastifyInstance, options: CniRoutesOptions): void {
  const { stateDir, stateFolder, stateFolderBeats } = options
  for (const verb of observedVerbs) {
    app.post<{ Body: CniRequest }>(
      `/v1/cni/${verb}`,
      {
        schema: {
          body: CniRequest,
          response: { 200: verb === 'add' ? AddReply : DoneReply, ...errors },
        },
        // A runtime polls STATUS every few seconds.
        ...(verb === 'status' && { logLevel: 'warn' }),
        // It goes on beside the verb.
        onRequest: async () => {
          void stateFolderBeats()
          await Promise.resolve()
        },
        onSend: async (_request, reply) => {
          if (await stateFolderBeats()) void reply.header(statePulse.header, statePulse.value)
        },
      },
      async (request, reply) => {
        const call = { request, reply, args: parseCniArgs(request.body.args) }
        nameOnLog(call, verb)
        const done = await observed(options, verb, () => verbs[verb](call, options))
        return { requestId: request.id, stateDir, ...(stateFolder !== undefined && { stateFolder }), ...done }
      },
    )
  }
}

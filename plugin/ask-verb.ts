import type { DoneReply } from '../shared/api/cni.schema.ts'
import { field, type JsonObject } from '../shared/json/fold.ts'
import type { Abandonment } from './abandonment.ts'
import { askDaemon, DaemonRefusal } from './ask-daemon.ts'
import type { Call } from './call.ts'
import type { RunIdentity } from './run-identity.ts'
import { stateFolderMismatch } from './state-folder-mismatch.ts'
import { limitsFor, type DaemonVerb, type TimeLimits } from './time-limits.ts'
import type { Validator } from './validators.generated.ts'

/** Keys of CniRequest that only an ADD has. */
interface AddKeys {
  readonly confirms: true
  readonly given: readonly string[] | undefined
}

/** The body of a request, shared/api/cni.schema.ts CniRequest; the configuration goes in as the text it came as. */
export function encodeRequest(
  { invocation, configText }: Call,
  identity: RunIdentity,
  addKeys?: AddKeys,
): string {
  const { containerId, netns, ifname, args, path } = invocation
  const rest = JSON.stringify({ ...identity, containerId, netns, ifname, args, path, ...addKeys })
  return `${rest.slice(0, -1)},"config":${configText}}`
}

/** What of a request says which attachment it is about, and how it was wired: all that a DEL needs. */
export function encodeBriefly({ invocation, config }: Call, identity: RunIdentity): string {
  const { containerId, netns, ifname } = invocation
  const kept = ['cniVersion', 'name', 'type'].map(key => [key, field(config, key)])
  return JSON.stringify({
    ...identity,
    ...{ containerId, netns, ifname, args: '', path: '' },
    config: Object.fromEntries(kept) as JsonObject,
  })
}

export interface VerbQuestion<Reply> {
  readonly verb: DaemonVerb
  readonly identity: RunIdentity
  /** Absent: those of the verb, less what the run has spent. */
  readonly limits?: TimeLimits
  readonly validate: Validator<Reply>
  readonly abandonment?: Abandonment
  /** ADD, sent again: what the fallback gave. */
  readonly given?: readonly string[]
}

/** Asks the daemon to carry out a verb for this call. Throws what askDaemon throws. */
export async function askVerb<Reply extends DoneReply>(
  call: Call,
  question: VerbQuestion<Reply>,
): Promise<Reply> {
  const { verb, identity, validate, abandonment, given } = question
  const { edges, settings } = call
  try {
    const reply = await askDaemon(edges, {
      verb,
      path: `/v1/cni/${verb.toLowerCase()}`,
      socket: settings.socket,
      body: encodeRequest(call, identity, verb === 'ADD' ? { confirms: true, given } : undefined),
      limits: question.limits ?? limitsFor(verb, settings.timeoutSeconds, edges.now() - edges.startedMs),
      validate,
      abandonment,
    })
    noteAnswer(call, reply)
    return reply
  } catch (error) {
    // A daemon that can serve no ADD gets no grace for having said so.
    if (error instanceof DaemonRefusal) noteAnswer(call, error.reply, verb !== 'STATUS')
    throw error
  }
}

function noteAnswer(call: Call, { requestId, stateDir }: DoneReply, stamp = true): void {
  call.answered(requestId)
  if (stamp && stateFolderMismatch(call, { stateDir }) === undefined)
    call.edges.stampAnswer(call.settings.stateDir)
}

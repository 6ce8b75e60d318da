import type { DoneReply } from '../../shared/api/cni.schema.ts'
import { DaemonRefusal } from '../ask-daemon.ts'
import { askVerb, encodeBriefly, encodeRequest } from '../ask-verb.ts'
import type { Call } from '../call.ts'
import type { Outcome } from '../outcome.ts'
import type { DelEntry, QueuedDel } from '../deferred-del.ts'
import { forwardToFallback } from '../fallback.ts'
import { limitsFor } from '../time-limits.ts'
import type { RunIdentity } from '../run-identity.ts'
import { networkName } from '../../shared/cni/netconf.ts'
import type { ProblemCode } from '../../shared/problem/catalogue.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { validateDoneReply } from '../validators.generated.ts'

/** For the second try, after the DEL is in the queue. */
const secondTry = { totalMs: 1_000, reachMs: 0 }

const noFallback: readonly ProblemCode[] = ['IPK_FALLBACK_MISSING', 'IPK_CONFIG_INVALID']

/** Who gave the addresses: we, a fallback, or nobody can say, since the daemon does not know or is away. */
type Giver =
  | { readonly kind: 'we' | 'unknown' }
  | { readonly kind: 'queued'; readonly why: string }
  | { readonly kind: 'fallback'; readonly type: string }

function giverOf({ delegatedTo }: DoneReply): Giver {
  if (delegatedTo === undefined) return { kind: 'unknown' }
  return delegatedTo === null ? { kind: 'we' } : { kind: 'fallback', type: delegatedTo }
}

/**
 * DEL: first the daemon, then the fallback, unless the daemon knows that the addresses are its own. An attachment that the
 * daemon does not know is the fallback's to end as well: a runtime sends another DEL when the fallback has failed, and by
 * then the daemon may have forgotten.
 */
export async function del(call: Call): Promise<Outcome> {
  const giver = await release(call)
  if (giver.kind === 'we') return {}
  try {
    await forwardToFallback(call, 'DEL', giver.kind === 'fallback' ? giver.type : undefined)
  } catch (error) {
    // Of a plugin that is not installed, or not named, an unknown attachment has nothing.
    const isNone = error instanceof Problem && noFallback.includes(error.code)
    if (!(isNone && giver.kind === 'unknown')) throw error
    call.edges.note(`ipkeeper: ${error.message}`)
  }
  return giver.kind === 'queued' ? { queued: giver.why } : {}
}

/**
 * Idempotent and best effort in the daemon; a namespace that is gone, or the host's own, is sent as it is. With the
 * daemon away the DEL goes into a durable queue and succeeds: a runtime may ask only once (cni-protocol part 2, "DEL
 * that never comes"). What the daemon understood and will never carry out is an error.
 */
async function release(call: Call): Promise<Giver> {
  const identity = call.edges.identity()
  try {
    const reply = await askVerb(call, { verb: 'DEL', identity, validate: validateDoneReply })
    return giverOf(reply)
  } catch (error) {
    if (error instanceof DaemonRefusal ? !error.reply.retryable : !(error instanceof Problem)) throw error
    return await defer(call, identity, error as Error)
  }
}

/**
 * 1. The entry is written. From here on it survives, and the DEL has succeeded.
 * 2. The daemon is asked once more: one that started between the first try and the entry has drained the queue already.
 * 3. When it answers, the entry is taken back. That the daemon may carry it out at the same time does no harm, since a
 *    DEL ends only what began before it.
 */
async function defer(call: Call, identity: RunIdentity, reason: Error): Promise<Giver> {
  const { settings, edges, invocation } = call
  const wrap = (request: string): string =>
    `{"version":1,"queuedAt":"${new Date(edges.wallClock()).toISOString()}","request":${request}}\n`
  const entry = await queue(
    call,
    {
      name: entryName(call, identity),
      writer: identity.invocationId,
      text: wrap(encodeRequest(call, identity)),
      brief: wrap(encodeBriefly(call, identity)),
    },
    reason,
  )
  try {
    const reply = await askVerb(call, {
      verb: 'DEL',
      identity,
      limits: secondTry,
      validate: validateDoneReply,
    })
    await entry.withdraw()
    return giverOf(reply)
  } catch {
    edges.note(
      `ipkeeper: the DEL of ${invocation.containerId} is queued in ${settings.stateDir}: ${reason.message}`,
    )
    return { kind: 'queued', why: reason.message }
  }
}

/** Names are limited to 255 bytes; a container ID that long is nobody's, and then each DEL has an entry of its own. */
function entryName({ invocation, config, edges }: Call, { invocationId }: RunIdentity): string {
  const name = `${invocation.containerId}:${invocation.ifname}:${networkName(config)}.json`
  return Buffer.byteLength(name) <= 200 ? name : `${edges.wallClock()}-${invocationId}.json`
}

/** Where the queue does not take it either, what was wrong with the daemon is the first thing to know. */
async function queue({ settings, edges }: Call, entry: DelEntry, reason: Error): Promise<QueuedDel> {
  const { totalMs } = limitsFor('DEL', settings.timeoutSeconds, edges.now() - edges.startedMs)
  try {
    return await edges.queueDel(settings.stateDir, entry, totalMs)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new Problem(error.code, error.message, {
      ...{ details: reason.message, hint: error.hint, cause: error },
    })
  }
}

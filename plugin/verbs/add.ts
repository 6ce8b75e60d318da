import type { AddReply, Delegate } from '../../shared/api/cni.schema.ts'
import { readFallback } from '../../shared/cni/fallback.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { UnusableReply } from '../ask-daemon.ts'
import { askVerb } from '../ask-verb.ts'
import type { Call, Outcome } from '../call.ts'
import { forwardToFallback, readFallbackResult, runFallback } from '../fallback.ts'
import { patienceFor } from '../patience.ts'
import { toMicroseconds, type RunIdentity } from '../run-identity.ts'
import { stateFolderMismatch } from '../state-folder-mismatch.ts'
import { validateAddReply, validateDoneReply } from '../validators.generated.ts'

/** What taking an ADD back may cost when its answer cannot be used; the runtime's own DEL follows. */
const undoPatience = { totalMs: 5_000, reachMs: 2_000 }

/**
 * ADD: the daemon chooses and records; this only checks what it says. An answer that came but cannot be used is
 * undone by a DEL; where none came, the daemon sees the connection end and undoes it itself, and a DEL from here could
 * hit what an earlier ADD of the same attachment has made.
 */
export async function add(call: Call): Promise<Outcome> {
  const { invocation, settings, edges } = call
  // Before anything is done: the reference looks afterwards and loses an address (cni-protocol B9).
  if (!invocation.netnsOverride && edges.isOwnNetns(invocation.netns)) {
    const message = "plugin's netns and netns from CNI_NETNS should not be the same"
    throw new Problem('IPK_NETNS_IS_HOST', message)
  }
  const identity = edges.identity()
  const patience = patienceFor('ADD', settings.timeoutSeconds, edges.now() - edges.startedMs)
  const undo = (): Promise<void> => undoAdd(call, identity)
  try {
    const reply = await askVerb(call, { verb: 'ADD', identity, patience, validate: validateAddReply })
    checkReply(call, reply)
    return 'result' in reply
      ? { document: reply.result, undo }
      : await addByFallback(call, reply.delegate, undo)
  } catch (error) {
    if (error instanceof UnusableReply) await undo()
    throw error
  }
}

/** What the schema cannot say of a reply. */
function checkReply(call: Call, reply: AddReply): void {
  const { settings, cniVersion } = call
  const mismatch = stateFolderMismatch(call, reply.stateDir)
  if (mismatch !== undefined) throw new UnusableReply('IPK_STATE_DIR_MISMATCH', mismatch)
  if (!('result' in reply)) return
  const { result } = reply
  const byFamily = cniVersion === '0.1.0' || cniVersion === '0.2.0'
  if (result.cniVersion !== cniVersion || 'ips' in result === byFamily) {
    const versions = `a result of version "${result.cniVersion}" for a configuration of version "${cniVersion}"`
    const shape = result.cniVersion === cniVersion ? ', in the shape of another version' : ''
    throw new UnusableReply(
      'IPK_DAEMON_REPLY_INVALID',
      `ipkeeper-server on ${settings.socket} answered ${versions}${shape}`,
    )
  }
}

/**
 * The daemon has noted that the addresses are the fallback's. When the fallback fails it gets its DEL, as a delegate whose
 * ADD failed has to (CNI SPEC section 4), and the note is taken back.
 */
async function addByFallback(call: Call, delegate: Delegate, forget: () => Promise<void>): Promise<Outcome> {
  const { cniVersion, settings } = call
  const undo = async (): Promise<void> => {
    await undoByFallback(call)
    await forget()
  }
  try {
    const fallback = readFallback(call.config)
    if (fallback?.type !== delegate.type) {
      const message = `ipkeeper-server on ${settings.socket} leaves the pod to fallback "${delegate.type}", which the configuration does not name`
      throw new Problem('IPK_DAEMON_REPLY_INVALID', message)
    }
    const stdout = await runFallback(call, fallback, 'ADD')
    return { document: readFallbackResult(fallback, stdout, cniVersion, delegate), undo }
  } catch (error) {
    await undo()
    throw error
  }
}

/** Never rejects: see undoAdd. */
async function undoByFallback(call: Call): Promise<void> {
  try {
    await forwardToFallback(call, 'DEL')
  } catch (error) {
    call.edges.note(
      `ipkeeper: undoing the fallback's ADD: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/** Never rejects: what cannot be undone now is undone by the DEL that follows a failed ADD. */
async function undoAdd(call: Call, added: RunIdentity): Promise<void> {
  const { edges, invocation } = call
  // The daemon lets a DEL end only what began before it.
  const identity = { ...added, startedAt: toMicroseconds(edges.now()) }
  try {
    await askVerb(call, { verb: 'DEL', identity, patience: undoPatience, validate: validateDoneReply })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    edges.note(`ipkeeper: the ADD of ${invocation.containerId} could not be undone: ${why}`)
  }
}

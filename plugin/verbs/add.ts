import type { AddReply, AddResult } from '../../shared/api/cni.schema.ts'
import { Problem } from '../../shared/problem/problem.ts'
import { createAbandonment } from '../abandonment.ts'
import { addByFallback } from '../add-by-fallback.ts'
import { UnusableReply } from '../ask-daemon.ts'
import { askVerb } from '../ask-verb.ts'
import type { Call } from '../call.ts'
import { type Outcome, printable, type PrintableDocument } from '../outcome.ts'
import { limitsFor } from '../time-limits.ts'
import { resultFault } from '../result-fault.ts'
import { toMicroseconds, type RunIdentity } from '../run-identity.ts'
import { stateFolderMismatch } from '../state-folder-mismatch.ts'
import { validateAddReply, validateDoneReply } from '../validators.generated.ts'

/** What taking an ADD back may cost when its answer cannot be used; the runtime's own DEL follows. */
const undoLimits = { totalMs: 5_000, reachMs: 2_000 }
/** Where nothing is left of the time of the ADD. */
const leastForUndoMs = 1_000

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
  let undone: Promise<void> | undefined
  const undo = (): Promise<void> => (undone ??= undoAdd(call, identity))
  const abandonment = createAbandonment()
  const asked = askVerb(call, { verb: 'ADD', identity, validate: validateAddReply, abandonment })
  call.onInterrupt(async () => {
    abandonment.abandon()
    // The daemon takes an answer that was under way already for one that has arrived.
    const answered = await asked.then(
      () => true,
      (error: unknown) => error instanceof UnusableReply,
    )
    if (answered) await undo()
  })
  /** The same ADD once more: the daemon recognises it, and it is void when a DEL has come meanwhile. */
  const confirm = async (given: readonly string[]): Promise<void> => {
    const again = { verb: 'ADD', identity, validate: validateAddReply, given } as const
    checkReply(call, await askVerb(call, { ...again, abandonment }))
  }
  try {
    const reply = await asked
    checkReply(call, reply)
    const outcome =
      'result' in reply
        ? { document: printableResult(call, reply.result), undo }
        : await addByFallback(call, { delegate: reply.delegate, abandonment, confirm, forget: undo })
    const leaveMark = async (): Promise<void> => {
      await edges.leaveMark(settings.stateDir, identity.invocationId)
    }
    return { ...outcome, leaveMark }
  } catch (error) {
    if (error instanceof UnusableReply) await undo()
    throw error
  }
}

/** What the schema cannot say of a reply. */
function checkReply(call: Call, reply: AddReply): void {
  const { settings, cniVersion } = call
  const mismatch = stateFolderMismatch(call, reply)
  if (mismatch !== undefined) throw new UnusableReply('IPK_STATE_DIR_MISMATCH', mismatch)
  const fault = 'result' in reply ? resultFault(reply.result, cniVersion) : undefined
  if (fault !== undefined) {
    const message = `ipkeeper-server on ${settings.socket} answered ${fault}`
    throw new UnusableReply('IPK_DAEMON_REPLY_INVALID', message)
  }
}

function printableResult({ settings }: Call, result: AddResult): PrintableDocument {
  try {
    return printable(result)
  } catch (cause) {
    const message = `ipkeeper-server on ${settings.socket} answered a result that cannot be printed`
    throw new UnusableReply('IPK_DAEMON_REPLY_INVALID', message, { cause })
  }
}

/** Never rejects: what cannot be undone now is undone by the DEL that follows a failed ADD. */
async function undoAdd(call: Call, added: RunIdentity): Promise<void> {
  const { edges, invocation, settings } = call
  // Without it the daemon takes the DEL for that of an ADD that nobody has the answer of, which it is.
  await edges.withdrawMark(settings.stateDir, added.invocationId)
  // The daemon lets a DEL end only what began before it.
  const identity = { ...added, startedAt: toMicroseconds(edges.now()) }
  const left = limitsFor('ADD', settings.timeoutSeconds, edges.now() - edges.startedMs)
  const totalMs = Math.min(undoLimits.totalMs, Math.max(left.totalMs, leastForUndoMs))
  try {
    await askVerb(call, {
      verb: 'DEL',
      identity,
      limits: { ...undoLimits, totalMs },
      validate: validateDoneReply,
    })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    edges.note(`ipkeeper: the ADD of ${invocation.containerId} could not be undone: ${why}`)
  }
}

import type { Delegate } from '../shared/api/cni.schema.ts'
import { readFallback } from '../shared/cni/fallback.ts'
import { Problem } from '../shared/problem/problem.ts'
import type { Abandonment } from './abandonment.ts'
import type { Call, Outcome } from './call.ts'
import type { PrintableDocument } from './document.ts'
import { forwardToFallback, readFallbackResult, runFallback } from './fallback.ts'

/**
 * The rest of an ADD whose addresses the daemon leaves to the fallback, and has noted so. When the fallback fails, or the
 * run is interrupted, it gets its DEL, as a delegate whose ADD failed has to (CNI SPEC section 4), and the note is taken
 * back.
 *
 * @param forget takes the daemon's note back; never rejects
 */
export async function addByFallback(
  call: Call,
  delegate: Delegate,
  abandonment: Abandonment,
  forget: () => Promise<void>,
): Promise<Outcome> {
  let undone: Promise<void> | undefined
  const undo = (): Promise<void> => (undone ??= undoByFallback(call).then(forget))
  const result = askFallback(call, delegate, abandonment)
  call.onInterrupt(async () => {
    abandonment.abandon()
    await result.catch(() => undefined)
    await undo()
  })
  try {
    return { document: await result, undo }
  } catch (error) {
    await undo()
    throw error
  }
}

async function askFallback(
  call: Call,
  delegate: Delegate,
  abandonment: Abandonment,
): Promise<PrintableDocument> {
  const { config, cniVersion, settings } = call
  const fallback = readFallback(config)
  if (fallback?.type !== delegate.type) {
    const message = `ipkeeper-server on ${settings.socket} leaves the pod to fallback "${delegate.type}", which the configuration does not name`
    throw new Problem('IPK_DAEMON_REPLY_INVALID', message)
  }
  const stdout = await runFallback(call, fallback, 'ADD', abandonment)
  return readFallbackResult(fallback, stdout, cniVersion, delegate)
}

/** Never rejects: what cannot be undone now is undone by the DEL that follows a failed ADD. */
async function undoByFallback(call: Call): Promise<void> {
  try {
    await forwardToFallback(call, 'DEL')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    call.edges.note(`ipkeeper: the fallback's ADD could not be undone: ${why}`)
  }
}

import type { Delegate } from '../shared/api/cni.schema.ts'
import { readFallback } from '../shared/cni/fallback.ts'
import type { Abandonment } from './abandonment.ts'
import type { Call } from './call.ts'
import type { Outcome } from './outcome.ts'
import { NotStarted, readFallbackResult, runFallback, type FallbackResult } from './fallback.ts'

/** What the fallback may take to undo its ADD; the runtime's own DEL follows. */
const undoMs = 5_000

/** What the rest of an ADD needs of its beginning. */
export interface LeftAdd {
  readonly delegate: Delegate
  readonly abandonment: Abandonment
  /**
   * Tells the daemon what the fallback gave. Rejects when it may not stand: the address is in our books, or a DEL has come
   * meanwhile.
   */
  readonly confirm: (addresses: readonly string[]) => Promise<void>
  /** Takes the daemon's note back; never rejects. */
  readonly forget: () => Promise<void>
}

/**
 * The rest of an ADD whose addresses the daemon leaves to the fallback, and has noted so. When the fallback fails, or what
 * it gave may not stand, or the run is interrupted, it gets its DEL, as a delegate whose ADD failed has to (CNI SPEC
 * section 4), and the note is taken back.
 */
export async function addByFallback(call: Call, left: LeftAdd): Promise<Outcome> {
  let started = true
  let undone: Promise<void> | undefined
  const undo = (): Promise<void> =>
    (undone ??= (started ? undoByFallback(call) : Promise.resolve()).then(left.forget))
  const result = askFallback(call, left)
  call.onInterrupt(async () => {
    left.abandonment.abandon()
    await result.catch(() => undefined)
    await undo()
  })
  try {
    const { document } = await result
    return { document, undo, delegatedTo: left.delegate.type }
  } catch (error) {
    started = !(error instanceof NotStarted)
    await undo()
    throw error
  }
}

async function askFallback(call: Call, { delegate, abandonment, confirm }: LeftAdd): Promise<FallbackResult> {
  const { config, cniVersion, settings } = call
  const fallback = readFallback(config)
  if (fallback?.type !== delegate.type) {
    const message = `ipkeeper-server on ${settings.socket} leaves the pod to fallback "${delegate.type}", which the configuration does not name`
    throw new NotStarted('IPK_DAEMON_REPLY_INVALID', message)
  }
  const stdout = await runFallback(call, fallback, 'ADD', { abandonment })
  const result = readFallbackResult(fallback, stdout, cniVersion)
  await confirm(result.addresses)
  return result
}

/** Never rejects: what cannot be undone now is undone by the DEL that follows a failed ADD. */
async function undoByFallback(call: Call): Promise<void> {
  try {
    const fallback = readFallback(call.config)
    if (fallback) await runFallback(call, fallback, 'DEL', { timeoutMs: undoMs })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    call.edges.note(`ipkeeper: the fallback's ADD could not be undone: ${why}`)
  }
}

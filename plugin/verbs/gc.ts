import { askVerb } from '../ask-verb.ts'
import type { Call } from '../call.ts'
import type { Outcome } from '../outcome.ts'
import { forwardToFallback } from '../fallback.ts'
import { validateDoneReply } from '../validators.generated.ts'

/**
 * GC: the daemon ends what the list of valid attachments in the configuration does not name, and so does the fallback,
 * whatever became of the other (CNI SPEC: go on after an error, forward to delegates).
 */
export async function gc(call: Call): Promise<Outcome> {
  const { edges } = call
  const asked = askVerb(call, {
    verb: 'GC',
    identity: edges.identity(),
    validate: validateDoneReply,
  })
  const [daemon, fallback] = await Promise.allSettled([asked, forwardToFallback(call, 'GC')])
  if (daemon.status === 'rejected') {
    if (fallback.status === 'rejected') edges.note(`ipkeeper: GC: ${messageOf(fallback.reason)}`)
    throw daemon.reason
  }
  if (fallback.status === 'rejected') throw fallback.reason
  return {}
}

const messageOf = (reason: unknown): string => (reason instanceof Error ? reason.message : String(reason))

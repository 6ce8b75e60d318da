import { askVerb } from '../ask-verb.ts'
import type { Call, Outcome } from '../call.ts'
import { forwardToFallback } from '../fallback.ts'
import { patienceFor } from '../time-limits.ts'
import { validateDoneReply } from '../validators.generated.ts'

/** CHECK: the daemon compares, or the fallback where the addresses are its own; success is silent. */
export async function check(call: Call): Promise<Outcome> {
  const { settings, edges } = call
  const patience = patienceFor('CHECK', settings.timeoutSeconds, edges.now() - edges.startedMs)
  const identity = edges.identity()
  const { delegatedTo } = await askVerb(call, {
    verb: 'CHECK',
    identity,
    patience,
    validate: validateDoneReply,
  })
  if (typeof delegatedTo === 'string') await forwardToFallback(call, 'CHECK', delegatedTo)
  return {}
}

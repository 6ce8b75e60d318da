import { askVerb } from '../ask-verb.ts'
import type { Call } from '../call.ts'
import type { Outcome } from '../outcome.ts'
import { forwardToFallback } from '../fallback.ts'
import { validateDoneReply } from '../validators.generated.ts'

/** CHECK: the daemon compares, or the fallback where the addresses are its own; success is silent. */
export async function check(call: Call): Promise<Outcome> {
  const identity = call.edges.identity()
  const { delegatedTo } = await askVerb(call, {
    verb: 'CHECK',
    identity,
    validate: validateDoneReply,
  })
  if (typeof delegatedTo === 'string') await forwardToFallback(call, 'CHECK', delegatedTo)
  return {}
}

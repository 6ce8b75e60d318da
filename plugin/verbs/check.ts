import { askVerb } from '../ask-verb.ts'
import type { Call, Outcome } from '../call.ts'
import { patienceFor } from '../patience.ts'
import { validateDoneReply } from '../validators.generated.ts'

/** CHECK: the daemon compares; success is silent. */
export async function check(call: Call): Promise<Outcome> {
  const { settings, edges } = call
  const patience = patienceFor('CHECK', settings.timeoutSeconds, edges.now() - edges.startedMs)
  await askVerb(call, { verb: 'CHECK', identity: edges.identity(), patience, validate: validateDoneReply })
  return {}
}

import { askVerb } from '../ask-verb.ts'
import type { Call, Outcome } from '../call.ts'
import { patienceFor } from '../patience.ts'
import { validateDoneReply } from '../validators.generated.ts'

/** GC: the daemon ends what the list of valid attachments in the configuration does not name. */
export async function gc(call: Call): Promise<Outcome> {
  const { settings, edges } = call
  const patience = patienceFor('GC', settings.timeoutSeconds, edges.now() - edges.startedMs)
  await askVerb(call, { verb: 'GC', identity: edges.identity(), patience, validate: validateDoneReply })
  return {}
}

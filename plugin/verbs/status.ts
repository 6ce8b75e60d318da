import { Problem } from '../../shared/problem/problem.ts'
import { askVerb } from '../ask-verb.ts'
import type { Call, Outcome } from '../call.ts'
import { forwardToFallback } from '../fallback.ts'
import { patienceFor } from '../patience.ts'
import { validateDoneReply } from '../validators.generated.ts'

/** STATUS: whether an ADD could be served now. A daemon that cannot be asked is the specification's code 50. */
export async function status(call: Call): Promise<Outcome> {
  const { settings, edges } = call
  const patience = patienceFor('STATUS', settings.timeoutSeconds, edges.now() - edges.startedMs)
  try {
    await askVerb(call, { verb: 'STATUS', identity: edges.identity(), patience, validate: validateDoneReply })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw new Problem('IPK_NOT_AVAILABLE', error.message, { details: error.details, cause: error })
  }
  await forwardToFallback(call, 'STATUS')
  return {}
}

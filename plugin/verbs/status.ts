import { Problem } from '../../shared/problem/problem.ts'
import { askVerb } from '../ask-verb.ts'
import type { Call } from '../call.ts'
import { type Outcome, Refusal } from '../outcome.ts'
import { isWithinGrace } from '../daemon-stamp.ts'
import { forwardToFallback } from '../fallback.ts'
import { stateFolderMismatch } from '../state-folder-mismatch.ts'
import { validateDoneReply } from '../validators.generated.ts'

/**
 * STATUS: whether an ADD could be served now; what the daemon says of it goes out as it is. A daemon that cannot be
 * asked is no news for a while: kubelet takes the node for NotReady at the first error, and a rollout is none. Then it
 * is the specification's code 50.
 */
export async function status(call: Call): Promise<Outcome> {
  const { settings, edges } = call
  const question = {
    verb: 'STATUS',
    identity: edges.identity(),
    validate: validateDoneReply,
  } as const
  const reply = await askVerb(call, question).catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error
    if (isWithinGrace(edges.sinceAnswer(settings.stateDir))) return undefined
    throw notAvailable(error)
  })
  const mismatch = reply && stateFolderMismatch(call, reply)
  if (mismatch !== undefined) throw notAvailable(new Problem('IPK_STATE_DIR_MISMATCH', mismatch))
  await forwardToFallback(call, 'STATUS').catch((error: unknown) => {
    throw asStatus(error)
  })
  return {}
}

/** What the fallback says of itself stands; anything else that is wrong with it means that no ADD can be left to it. */
function asStatus(error: unknown): unknown {
  if (error instanceof Refusal) {
    const { cniCode, message, details } = error.failure
    if (cniCode === 50 || cniCode === 51) return error
    const hint =
      'the reference plugins know STATUS from 1.6.0 on: install a later one, or set "cniVersion" to 1.0.0, with which no runtime asks'
    return new Problem('IPK_NOT_AVAILABLE', message, { details, hint })
  }
  return error instanceof Problem && error.code !== 'IPK_CONFIG_INVALID' ? notAvailable(error) : error
}

function notAvailable(reason: Problem): Problem {
  const { message, details, hint } = reason
  return new Problem('IPK_NOT_AVAILABLE', message, { details, hint, cause: reason })
}

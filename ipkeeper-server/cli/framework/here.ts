import { defaultPaths } from '../../../shared/paths.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { remedyHere, type Place } from '../../../shared/remedy/place.ts'
import { findDocuments, findStartedAs, notedStartedAs } from '../../host/started-as.ts'
import type { Terminal } from './terminal.ts'

interface Told {
  readonly socket: string | undefined
  readonly stateDir: string | undefined
}

/** Where somebody types, for what a command advises. What the environment says holds for the next command, too. */
export function placeHere({ socket, stateDir }: Told, { env }: Pick<Terminal, 'env'>): Place {
  const usualSocket = env['IPKEEPER_SOCKET'] || defaultPaths.socket
  const usualStateDir = env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir
  const found = findStartedAs({ env })
  const noted = notedStartedAs(socket ?? usualSocket)
  return {
    socket: socket === usualSocket ? undefined : socket,
    stateDir: stateDir === usualStateDir ? undefined : stateDir,
    startedAs: found?.service === 'pod' && found.pod !== undefined ? found : (noted ?? found),
    // In the pod it was called by "kubectl exec".
    toolIsHere: !env['KUBERNETES_SERVICE_HOST'],
    documents: findDocuments(process.execPath),
  }
}

/** The same problem, advising what works there. A usage error says how the command is called. */
export function problemHere(error: unknown, place: Place): unknown {
  if (!(error instanceof Problem) || error.code === 'IPK_USAGE') return error
  const { code, message, details, cause } = error
  return new Problem(code, message, { hint: remedyHere(error.hint, place), details, cause })
}

/** A terminal that people read: what commands print there works as typed. */
export const terminalHere = (terminal: Terminal, place: Place): Terminal => ({
  ...terminal,
  err: text => {
    terminal.err(remedyHere(text, place))
  },
})

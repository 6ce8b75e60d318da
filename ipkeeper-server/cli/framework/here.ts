import { defaultPaths } from '../../../shared/paths.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { remedyHere, type Place } from '../../../shared/remedy/place.ts'
import { findDocuments, notedStartedAs } from '../../host/started-as.ts'
import type { Terminal } from './terminal.ts'

interface Told {
  /** By an option: what the environment says holds for the next command, too. */
  readonly socket: string | undefined
  readonly stateDir: string | undefined
}

/** Where somebody types, for what a command advises. */
export function placeOf({ socket, stateDir }: Told, { env }: Pick<Terminal, 'env'>): Place {
  const noted = notedStartedAs(stateDir ?? (env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir))
  return { socket, stateDir, startedAs: noted, documents: findDocuments(process.execPath) }
}

/** The same problem, advising what works there. A usage error says how the command is called. */
export function problemHere(error: unknown, place: Place): unknown {
  return error instanceof Problem && error.code !== 'IPK_USAGE'
    ? error.withHint(remedyHere(error.hint, place))
    : error
}

/** A terminal that people read: what commands print there works as typed. */
export const terminalHere = (terminal: Terminal, place: Place): Terminal => ({
  ...terminal,
  err: text => {
    terminal.err(remedyHere(text, place))
  },
})

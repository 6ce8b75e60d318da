import type { Environment } from '../shared/cni/environment.ts'
import type { Connect } from './connection.ts'
import type { StartProgram } from './program.ts'
import type { OpenInput } from './stdin.ts'

/**
 * The process that the plugin runs in, and the machine around it. There are two: edges/node/ for the executable that is made
 * with Node, edges/quick/ for the static one. Files are those of node:fs for both, as edges/quick/fs.ts is put in its place.
 */
export interface Machine {
  readonly env: Environment
  /** The first word of the command line. */
  readonly argument: string | undefined
  readonly pid: number
  /** Path of this executable. */
  readonly program: string
  /** Milliseconds of CLOCK_MONOTONIC. */
  readonly now: () => number
  /** Stands still for so many milliseconds. */
  readonly pause: (ms: number) => void
  readonly findConnect: () => Connect | Promise<Connect>
  readonly openInput: OpenInput
  readonly startProgram: StartProgram
  /** Says who hears of the signals that would end the process; none has been heard before. */
  readonly onInterruption: (hear: (signal: string) => void) => void
  /** Says who hears of an exception that nothing has caught. */
  readonly onException: (hear: (error: unknown) => void) => void
  /** Says what to do when the process ends, also where nothing is left for it to wait for. */
  readonly onExit: (act: () => void) => void
  readonly exit: (code: number) => never
}

/**
 * The plugin on Node. This file and those beside it alone touch the process. Signals cannot wait until everything is loaded:
 * their import has to stay the first.
 */
import { onInterruption } from './interruption.ts'
import { runProcess } from '../../run-process.ts'
import { note } from '../../standard-streams.ts'
import { createNetConnect } from './net-connection.ts'
import { openInput } from './open-input.ts'
import { findPipeConnect } from './pipe-connection.ts'
import { startProgram } from './start-program.ts'

/** stdout belongs to the one document; whatever else is printed, by a dependency or by Node, goes to stderr. */
function keepConsoleOffStdout(): void {
  const methods = console as unknown as Record<string, unknown>
  for (const name of Object.keys(methods)) {
    if (name !== 'Console' && typeof methods[name] === 'function') {
      methods[name] = (...values: unknown[]): void => {
        note(values.map(String).join(' '))
      }
    }
  }
}

keepConsoleOffStdout()
process.exitCode = 1
const connectByPipe = findPipeConnect()
runProcess({
  env: process.env,
  argument: process.argv[2],
  pid: process.pid,
  program: process.execPath,
  now: () => Number(process.hrtime.bigint()) / 1e6,
  pause: ms => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  },
  findConnect: async () => connectByPipe ?? createNetConnect(await import('node:net')),
  openInput,
  startProgram,
  onInterruption,
  onException: hear => {
    process.on('uncaughtException', hear)
    process.on('unhandledRejection', hear)
  },
  onExit: act => {
    process.on('exit', act)
  },
  exit: code => process.exit(code),
})

/** The plugin on QuickJS, which brings the language alone: what Node has besides, and the plugin uses, is made here. */
import { runProcess } from '../../run-process.ts'
import { Buffer } from './buffer.ts'
import { connect } from './connection.ts'
import { clearTimeout, onSignal, setTimeout, turn } from './event-loop.ts'
import { openInput } from './open-input.ts'
import { reapPrograms, startProgram } from './programs.ts'
import { system } from './system.ts'

const sigchld = 17

let hearInterruption: (signal: string) => void = () => undefined
let hearException: ((error: unknown) => void) | undefined
const atExit: (() => void)[] = []

function exit(code: number): never {
  for (const act of atExit.splice(0)) act()
  return system.exit(code)
}

class TextEncoder {
  encode(text: string): Uint8Array {
    return Buffer.from(text)
  }
}

Object.assign(globalThis, {
  ...{ Buffer, TextEncoder, setTimeout, clearTimeout },
  script: {
    turn: () => {
      if (!turn()) exit(1)
    },
    fail: (error: unknown) => {
      // Thrown on, it is printed by host/main.c.
      if (hearException === undefined) throw error
      hearException(error)
    },
  },
})

onSignal(number => {
  if (number === sigchld) reapPrograms()
  else hearInterruption(system.signalName(number))
})
runProcess({
  env: system.env,
  argument: system.argument,
  pid: system.pid,
  program: system.program ?? '/proc/self/exe',
  now: () => system.now(),
  pause: ms => {
    system.pause(ms)
  },
  findConnect: () => connect,
  openInput,
  startProgram,
  onInterruption: hear => {
    hearInterruption = hear
  },
  onException: hear => {
    hearException = hear
  },
  onExit: act => {
    atExit.push(act)
  },
  exit,
})

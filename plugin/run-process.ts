import { readFileSync, statSync, writeSync } from 'node:fs'
import { versionText } from '../shared/build-info.ts'
import { Problem } from '../shared/problem/problem.ts'
import { sinceAnswer, stampAnswer, type Moment } from './daemon-stamp.ts'
import { createExchange } from './exchange.ts'
import type { Machine } from './machine.ts'
import { createAskAside, createRunChild } from './run-child.ts'
import { createIdentity, knownBootId } from './run-identity.ts'
import { startPlugin } from './run-plugin.ts'
import { createDeliver, note } from './standard-streams.ts'
import { aside, StateWrites, writeAside } from './state-writes.ts'
import { createStdinReader } from './stdin.ts'

/** Device and inode of what a path leads to, "DEV:INO"; undefined for one that cannot be looked at. */
function inodeOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/** Whether two paths lead to the same file, folder or namespace. A path that cannot be looked at is the same as none. */
function isSameInode(one: string, other: string): boolean {
  const first = inodeOf(one)
  return first !== undefined && first === inodeOf(other)
}

/**
 * A whole run of the executable. Runtimes start it for each verb, with CNI_* in the environment and the configuration on
 * stdin; it asks ipkeeper-server over a unix socket and prints one JSON document.
 */
export function runProcess(machine: Machine): void {
  const { argument, env } = machine
  // For people, and for another run of ours; a runtime says what it wants by CNI_COMMAND.
  if (env['CNI_COMMAND'] === undefined && argument === '--version') {
    writeSync(1, `ipkeeper ${versionText}\n`)
    machine.exit(0)
  }
  if (env['CNI_COMMAND'] === undefined && argument === aside) {
    writeAside(readFileSync(0, 'utf8'), text => {
      writeSync(1, text)
    })
    machine.exit(0)
  }
  answerRuntime(machine)
}

function answerRuntime(machine: Machine): void {
  const { now, pid, startProgram } = machine
  const startedMs = now()
  const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
  let saidAt: number | undefined
  const askAside = createAskAside(startProgram, machine.program)
  const writes = new StateWrites({ saidAt: () => saidAt, askAside, now, sleep })
  const moment = (): Moment => ({ wall: Date.now(), monotonic: now(), bootId: knownBootId() })
  const run = startPlugin({
    ...{ env: machine.env, now, sleep, startedMs, pid, note, inodeOf },
    readStdin: createStdinReader(machine.openInput),
    deliver: createDeliver(machine.pause),
    exchange: async request => {
      saidAt = undefined
      const reply = await createExchange(await machine.findConnect())(request)
      saidAt = reply.stateFolderBeats === true ? now() : undefined
      return reply
    },
    identity: () => createIdentity(startedMs, pid),
    wallClock: Date.now,
    queueDel: (stateDir, entry, withinMs) => writes.write({ what: 'del', stateDir, entry }, withinMs),
    leaveMark: async (stateDir, invocationId) => {
      await writes.write({ what: 'mark', stateDir, invocationId })
    },
    withdrawMark: async (stateDir, invocationId) => {
      await writes.write({ what: 'unmark', stateDir, invocationId }).catch(() => undefined)
    },
    runChild: createRunChild(startProgram, machine.onExit),
    appendFlight: async (stateDir, line) => {
      await writes.write({ what: 'flight', stateDir, line })
    },
    stampAnswer: stateDir => {
      if (writes.takesWrites()) stampAnswer(stateDir, moment())
    },
    sinceAnswer: stateDir => sinceAnswer(stateDir, moment()),
    isOwnNetns: path => isSameInode(path, '/proc/self/ns/net'),
    isSameFolder: isSameInode,
  })
  machine.onInterruption(signal => {
    run.interrupt(new Problem('IPK_INTERRUPTED', `interrupted by ${signal} before the outcome was known`))
  })
  machine.onException(run.interrupt)
  // Should nothing be left to wait for without an outcome, that is a bug, and still one document.
  machine.onExit(() => {
    run.interrupt(new Error('the plugin ended without an outcome'))
  })
  void run.finished.then(machine.exit)
}

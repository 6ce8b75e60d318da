/**
 * The CNI plugin. Runtimes start it for each verb, with CNI_* in the environment and the configuration on stdin; it
 * asks ipkeeper-server over a unix socket and prints one JSON document. This file alone touches the process, but for
 * signals, which cannot wait until everything is loaded: their import has to stay the first.
 */
import { onInterruption } from './interruption.ts'
import { readFileSync, statSync, writeSync } from 'node:fs'
import { versionText } from '../shared/build-info.ts'
import { Problem } from '../shared/problem/problem.ts'
import { sinceAnswer, stampAnswer, type Moment } from './daemon-stamp.ts'
import { createExchange } from './exchange.ts'
import { createNetConnect } from './net-connection.ts'
import { findPipeConnect } from './pipe-connection.ts'
import { createIdentity, readBootId } from './run-identity.ts'
import { startPlugin, type PluginRun } from './run-plugin.ts'
import { askAside, createRunChild } from './run-child.ts'
import { deliver, note } from './standard-streams.ts'
import { aside, StateWrites, writeAside } from './state-writes.ts'
import { createStdinReader } from './stdin.ts'

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

function watchProcess(run: PluginRun): void {
  onInterruption(signal => {
    run.interrupt(new Problem('IPK_INTERRUPTED', `interrupted by ${signal} before the outcome was known`))
  })
  process.on('uncaughtException', run.interrupt)
  process.on('unhandledRejection', run.interrupt)
  // Should nothing be left to wait for without an outcome, that is a bug, and still one document.
  process.on('exit', () => {
    run.interrupt(new Error('the plugin ended without an outcome'))
  })
}

// For people; a runtime says what it wants by CNI_COMMAND.
if (process.argv[2] === '--version' && process.env['CNI_COMMAND'] === undefined) {
  writeSync(1, `ipkeeper ${versionText}\n`)
  process.exit(0)
}
if (process.argv[2] === aside && process.env['CNI_COMMAND'] === undefined) {
  writeAside(readFileSync(0, 'utf8'), text => {
    writeSync(1, text)
  })
  process.exit(0)
}
keepConsoleOffStdout()
process.exitCode = 1
const now = (): number => Number(process.hrtime.bigint()) / 1e6
const startedMs = now()
const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
let saidAt: number | undefined
const writes = new StateWrites({ saidAt: () => saidAt, askAside, now, sleep })
const moment = (): Moment => ({ wall: Date.now(), monotonic: now(), bootId: readBootId() })
const connectByPipe = findPipeConnect()
const run = startPlugin({
  env: process.env,
  readStdin: createStdinReader(() => (process.stdin.isTTY ? process.stdin : undefined)),
  deliver,
  note,
  exchange: async request => {
    saidAt = undefined
    const connect = connectByPipe ?? createNetConnect(await import('node:net'))
    const reply = await createExchange(connect)(request)
    saidAt = reply.stateFolderBeats === true ? now() : undefined
    return reply
  },
  now,
  sleep,
  startedMs,
  identity: () => createIdentity(startedMs, process.pid),
  wallClock: Date.now,
  pid: process.pid,
  queueDel: (stateDir, entry, withinMs) => writes.write({ what: 'del', stateDir, entry }, withinMs),
  leaveMark: async (stateDir, invocationId) => {
    await writes.write({ what: 'mark', stateDir, invocationId })
  },
  withdrawMark: async (stateDir, invocationId) => {
    await writes.write({ what: 'unmark', stateDir, invocationId }).catch(() => undefined)
  },
  runChild: createRunChild(kill => process.on('exit', kill)),
  appendFlight: async (stateDir, line) => {
    await writes.write({ what: 'flight', stateDir, line })
  },
  stampAnswer: stateDir => {
    if (writes.takesWrites()) stampAnswer(stateDir, moment())
  },
  sinceAnswer: stateDir => sinceAnswer(stateDir, moment()),
  isOwnNetns: path => isSameInode(path, '/proc/self/ns/net'),
  isSameFolder: isSameInode,
  inodeOf,
})
watchProcess(run)
void run.finished.then(code => process.exit(code))

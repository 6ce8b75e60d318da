import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { ProblemCode } from '../shared/problem/catalogue.ts'
import { Problem } from '../shared/problem/problem.ts'
import { statePulse } from '../shared/state-pulse.ts'
import { shellWord } from '../shared/text/shell-word.ts'
import { leaveMark, withdrawMark } from './answered-mark.ts'
import { queueDel, withdrawDel, type DelEntry, type QueuedDel } from './deferred-del.ts'
import { appendFlight } from './flight-log.ts'
import type { AskAside } from './run-child.ts'

/** What a run writes to its state folder and waits for. */
export type StateWrite =
  | { readonly what: 'mark' | 'unmark'; readonly stateDir: string; readonly invocationId: string }
  | { readonly what: 'del'; readonly stateDir: string; readonly entry: DelEntry }
  | { readonly what: 'undel'; readonly stateDir: string; readonly name: string }
  | { readonly what: 'flight'; readonly stateDir: string; readonly line: string }

/** How another process tells how its write ended: nothing but an error is worth a word. */
interface Told {
  readonly code?: ProblemCode
  readonly message?: string
  readonly details?: string
  readonly hint?: string
}

/** In argv of a run that writes for another one. */
export const aside = 'write-state'

/** Milliseconds that a write by another process may take; a DEL has what is left of its time, where that is more. */
const limitsMs = { mark: 1000, unmark: 500, del: 2000, undel: 500, flight: 1000 } as const

/** So many processes of runs that have ended may wait for a file system that hangs. */
const mostWaiting = 16
const lookAgainMs = 50

const notQueued: QueuedDel = { withdraw: () => undefined }

/** Does it, for as long as the file system takes. Throws Problems, and for a flight what the system says. */
function write(wanted: StateWrite): QueuedDel {
  switch (wanted.what) {
    case 'mark':
      leaveMark(wanted.stateDir, wanted.invocationId)
      return notQueued
    case 'unmark':
      withdrawMark(wanted.stateDir, wanted.invocationId)
      return notQueued
    case 'del':
      return queueDel(wanted.stateDir, wanted.entry)
    case 'undel':
      withdrawDel(wanted.stateDir, wanted.name)
      return notQueued
    case 'flight':
      appendFlight(wanted.stateDir, wanted.line)
      return notQueued
  }
}

/**
 * The whole of a run that writes for another one.
 *
 * @param tell throws when nothing listens any more
 */
export function writeAside(text: string, tell: (text: string) => void): void {
  const wanted = JSON.parse(text) as StateWrite
  let told: Told = {}
  try {
    write(wanted)
  } catch (error) {
    const { code, message, details, hint } =
      error instanceof Problem ? error : new Problem('IPK_INTERNAL', '')
    told = { code, message, details, hint }
  }
  try {
    tell(`${JSON.stringify(told)}\n`)
  } catch {
    // Its ADD has failed meanwhile. A DEL that waits does no harm, and a line of the record is as true as ever.
    if (wanted.what === 'mark' && told.code === undefined) withdrawMark(wanted.stateDir, wanted.invocationId)
  }
}

export interface StateWritesOptions {
  /** When the daemon last said in this run that the state folder takes writes, by `now`; undefined: not with its last reply. */
  readonly saidAt: () => number | undefined
  readonly askAside: AskAside
  readonly now: () => number
  readonly sleep: (ms: number) => Promise<void>
}

/**
 * Writes to the state folder, directly where the daemon has just said that it takes writes: the usual case. Else by another
 * process, which is left behind when it takes too long: a process that waits for a file system that hangs cannot even be
 * killed, and runtimes wait for a plugin until its process is gone.
 */
export class StateWrites {
  readonly #options: StateWritesOptions
  /** When another process last said how its write to a folder ended. */
  #cameBack: { readonly stateDir: string; readonly at: number } | undefined
  /** Something was not written in time in this run: nothing further is tried. */
  #hangs = false

  constructor(options: StateWritesOptions) {
    this.#options = options
  }

  /** @param withinMs how long it may take at least */
  async write(wanted: StateWrite, withinMs = 0): Promise<QueuedDel> {
    if (this.takesWrites() || this.#hasJustComeBack(wanted)) return write(wanted)
    if (this.#hangs) throw hanging(wanted)
    const { now, askAside } = this.#options
    const deadline = now() + Math.max(withinMs, limitsMs[wanted.what])
    await this.#waitForOthers(deadline)
    const told = now() < deadline && (await askAside(aside, JSON.stringify(wanted), deadline - now()))
    if (told === undefined) return write(wanted)
    if (told === false) {
      this.#hangs = true
      throw hanging(wanted)
    }
    this.#cameBack = { stateDir: wanted.stateDir, at: now() }
    const { code, message = '', ...rest } = JSON.parse(told) as Told
    if (code !== undefined) throw new Problem(code, message, rest)
    if (wanted.what !== 'del') return notQueued
    const { stateDir, entry } = wanted
    return {
      // What stays, or is in a spare file, the daemon carries out: a DEL ends only what began before it.
      withdraw: async () => {
        await this.write({ what: 'undel', stateDir, name: entry.name }).catch(() => undefined)
      },
    }
  }

  /** The daemon's word counts for a moment: a fallback may have run since, and the disk may be away by now. */
  takesWrites(): boolean {
    return this.#isRecent(this.#options.saidAt())
  }

  #isRecent(at: number | undefined): boolean {
    return at !== undefined && this.#options.now() - at < statePulse.freshForMs
  }

  /** As good as the daemon's word: an ADD that has its mark is printed, put on record and ended with no further process. */
  #hasJustComeBack({ stateDir }: StateWrite): boolean {
    const last = this.#cameBack
    return last?.stateDir === stateDir && this.#isRecent(last.at)
  }

  /** Those that wait already are enough to see that it hangs. */
  async #waitForOthers(deadline: number): Promise<void> {
    const { now, sleep } = this.#options
    while (countWaiting() >= mostWaiting && now() < deadline) await sleep(lookAgainMs)
  }
}

function hanging(wanted: StateWrite): Problem {
  const { stateDir } = wanted
  const what =
    wanted.what === 'del' ? 'the DEL cannot be queued' : 'that this ADD is answered cannot be noted'
  return new Problem(
    wanted.what === 'del' ? 'IPK_DEL_NOT_QUEUED' : 'IPK_ANSWER_UNMARKED',
    `${what} in ${stateDir}: its file system does not answer`,
    {
      hint: `see which it is: findmnt -T ${shellWord(stateDir)}; what it waits for: dmesg | tail; a frozen one goes on by fsfreeze -u`,
    },
  )
}

/** Processes of this executable that cannot go on: in state D of proc(5). */
function countWaiting(): number {
  const inode = (path: string): string => {
    const { dev, ino } = statSync(path)
    return `${dev}:${ino}`
  }
  try {
    const own = inode('/proc/self/exe')
    return readdirSync('/proc').filter(name => /^\d+$/.test(name) && waits(name, own, inode)).length
  } catch {
    return 0
  }
}

function waits(pid: string, own: string, inode: (path: string) => string): boolean {
  try {
    return inode(`/proc/${pid}/exe`) === own && /\) D /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    // It has ended, or is none of ours.
    return false
  }
}

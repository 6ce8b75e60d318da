import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { Problem } from '../shared/problem/problem.ts'
import { nullDescriptor } from './standard-streams.ts'

export interface StdinLimits {
  /** Milliseconds until the end of the input has to be there. */
  readonly timeoutMs: number
  /** Bytes that are taken at most. */
  readonly maxBytes: number
}

export type ReadStdin = (limits: StdinLimits) => Promise<string>

export interface InputListener {
  readonly received: (bytes: Buffer) => void
  readonly ended: () => void
  readonly failed: (error: Error) => void
}

/** Reads on as bytes come; what it returns ends that, and then the listener hears nothing more. */
export type ReadInput = (listener: InputListener) => () => void

/**
 * Opens fd 0 for reading without waiting: a pipe or a socket, or a device that may be a terminal; undefined for one that is
 * no terminal.
 */
export type OpenInput = (kind: 'stream' | 'device') => Promise<ReadInput | undefined>

const stdin = 0

function unreadable(why: string, cause?: unknown): Problem {
  return new Problem('IPK_INPUT_UNREADABLE', `error reading from stdin: ${why}`, { cause })
}

const tooMuch = (maxBytes: number): Problem => unreadable(`more than ${maxBytes} bytes`)

/**
 * Makes the reader of fd 0, which takes all up to its end; bytes that are no UTF-8 are replaced.
 *
 * A pipe or socket is read without blocking, so that signals and deadlines work while the other side keeps it open:
 * neither readSync nor a read in the thread pool can be left alone, the pool keeps the process from ending. Anything
 * else, such as a file, is read at once.
 *
 * @returns a function that throws Problem IPK_INPUT_UNREADABLE (CNI code 5)
 */
export function createStdinReader(openInput: OpenInput): ReadStdin {
  return async limits => {
    const stats = attempt(() => fstatSync(stdin))
    if (stats.isFIFO() || stats.isSocket()) {
      const { chunks, ended } = stats.isFIFO() ? takeReady(limits.maxBytes) : nothing
      if (ended) return Buffer.concat(chunks).toString()
      const input = await openInput('stream')
      return input ? readOn(input, limits, chunks) : readBlocking(limits)
    }
    const nullDevice = attempt(() => nullDescriptor(stdin))
    if (nullDevice === 'closed by the caller') throw unreadable('bad file descriptor')
    if (nullDevice === 'null') return ''
    const terminal = stats.isCharacterDevice() ? await openInput('device') : undefined
    return terminal ? readOn(terminal, limits) : readBlocking(limits)
  }
}

function attempt<Value>(action: () => Value): Value {
  try {
    return action()
  } catch (error) {
    throw unreadable(error instanceof Error ? error.message : String(error), error)
  }
}

interface Ready {
  readonly chunks: readonly Buffer[]
  /** Whether the other side has closed the pipe, so that nothing more can come. */
  readonly ended: boolean
}

const nothing: Ready = { chunks: [], ended: false }

/**
 * Takes what is in the pipe already. Runtimes write the configuration and close the pipe at once, and then this is all
 * of it; a stream of Node costs 2 to 3 ms of every run. Never waits: the pipe is opened anew, so that reading without blocking
 * concerns this process alone. Where that cannot be done there is nothing to take, and the stream says why.
 */
function takeReady(maxBytes: number): Ready {
  let pipe: number
  try {
    pipe = openSync(`/proc/self/fd/${stdin}`, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return nothing
  }
  const chunks: Buffer[] = []
  let length = 0
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(64 * 1024)
      const count = readSync(pipe, chunk)
      if (count === 0) return { chunks, ended: true }
      chunks.push(chunk.subarray(0, count))
      length += count
      if (length > maxBytes) throw tooMuch(maxBytes)
    }
  } catch (error) {
    if (error instanceof Problem) throw error
    // EAGAIN: the other side still has the pipe open. Any other error comes again from the stream.
    return { chunks, ended: false }
  } finally {
    closeSync(pipe)
  }
}

function readOn(
  read: ReadInput,
  { timeoutMs, maxBytes }: StdinLimits,
  before: readonly Buffer[] = [],
): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks = [...before]
    let length = before.reduce((sum, chunk) => sum + chunk.length, 0)
    const finish = (problem?: Problem): void => {
      clearTimeout(timer)
      stop()
      if (problem) reject(problem)
      else resolve(Buffer.concat(chunks).toString())
    }
    const timer = setTimeout(() => {
      finish(unreadable(`no end of it within ${timeoutMs / 1000} s`))
    }, timeoutMs)
    const stop = read({
      received: chunk => {
        chunks.push(chunk)
        length += chunk.length
        if (length > maxBytes) finish(tooMuch(maxBytes))
      },
      ended: () => {
        finish()
      },
      failed: error => {
        finish(unreadable(error.message, error))
      },
    })
  })
}

function readBlocking({ maxBytes }: StdinLimits): string {
  const chunks: Buffer[] = []
  let length = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(64 * 1024)
    const count = attempt(() => readSync(stdin, chunk))
    if (count === 0) return Buffer.concat(chunks).toString()
    chunks.push(chunk.subarray(0, count))
    length += count
    if (length > maxBytes) throw tooMuch(maxBytes)
  }
}

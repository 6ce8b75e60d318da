import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs'
import { failedBy } from '../shared/system-code.ts'

const stdout = 1
const stderr = 2

/** Device 1:3 of Linux. */
const nullDevice = 0x103
const accessMode = 3
const readWrite = 2

/**
 * Whether a standard descriptor is /dev/null, and if so, whose. Where the caller had closed it, Node has put /dev/null
 * there, open for reading and writing; what callers put there themselves is open in one direction only. Without /proc
 * that is not known, and it counts as the caller's.
 *
 * @throws the error of fstat
 */
export function nullDescriptor(descriptor: number): 'closed by the caller' | 'null' | undefined {
  const stats = fstatSync(descriptor)
  if (!stats.isCharacterDevice() || stats.rdev !== nullDevice) return undefined
  return (openFlags(descriptor) & accessMode) === readWrite ? 'closed by the caller' : 'null'
}

function openFlags(descriptor: number): number {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')
    return Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(info)?.[1] ?? '0', 8)
  } catch {
    return 0
  }
}

/** Takes one text to fd 1, whole, or throws the error that prevents it (EPIPE, ENOSPC, EBADF, ...). */
export type Deliver = (text: string) => void

const pauseMs = 5

/**
 * The one owner of fd 1. It writes synchronously until every byte is taken: process.stdout.write followed by an exit
 * loses what a pipe does not take at once, which is all beyond 64 KiB when the reader is slow. A pipe that the runtime
 * made non-blocking answers EAGAIN while it is full; then we wait.
 *
 * @param pause stands still for so many milliseconds
 */
export const createDeliver =
  (pause: (ms: number) => void): Deliver =>
  text => {
    if (nullDescriptor(stdout) === 'closed by the caller') throw new Error('it is closed')
    const bytes = Buffer.from(text)
    let written = 0
    while (written < bytes.length) {
      try {
        written += writeSync(stdout, bytes, written)
      } catch (error) {
        if (!failedBy(error, 'EAGAIN')) throw error
        pause(pauseMs)
      }
    }
  }

/**
 * A line for the runtime's log. It may have no reader: stderr closed, or a pipe that is full, is no reason to fail or
 * to wait for ever, so what a pipe does not take at once is lost. Never throws.
 */
export function note(line: string): void {
  try {
    const target = fstatSync(stderr).isFIFO() ? openAgain() : stderr
    try {
      writeSync(target, `${line}\n`)
    } finally {
      if (target !== stderr) closeSync(target)
    }
  } catch {
    // There is no third place to say it.
  }
}

/** The same pipe, so that not waiting concerns this process alone and not all that share it. */
function openAgain(): number {
  try {
    return openSync(`/proc/self/fd/${stderr}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return stderr
  }
}

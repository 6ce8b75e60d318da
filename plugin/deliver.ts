import { writeSync } from 'node:fs'
import { nullDescriptor } from './closed-descriptor.ts'

/** Takes one text to fd 1, whole, or throws the error that prevents it (EPIPE, ENOSPC, EBADF, ...). */
export type Deliver = (text: string) => void

const stdout = 1
const pauseMs = 5

/**
 * The one owner of fd 1. It writes synchronously until every byte is taken: process.stdout.write followed by an exit
 * loses what a pipe does not take at once, which is all beyond 64 KiB when the reader is slow. A pipe that the runtime
 * made non-blocking answers EAGAIN while it is full; then we wait.
 */
export const deliver: Deliver = text => {
  if (nullDescriptor(stdout) === 'closed by the caller') throw new Error('it is closed')
  const bytes = Buffer.from(text)
  let written = 0
  while (written < bytes.length) {
    try {
      written += writeSync(stdout, bytes, written)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)
    }
  }
}

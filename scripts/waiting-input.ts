import { spawnSync } from 'node:child_process'
import { closeSync, openSync, writeSync } from 'node:fs'

/**
 * Pipes that hold an input to its end already, as a runtime's do by the time a plugin looks: Go's exec hands over a pipe,
 * where Node's own `stdio: 'pipe'` is a pair of sockets, which programs read in another way.
 */
export class WaitingInput {
  readonly #fifo: string

  /** Makes a pipe under this path; it can hold one input at a time. */
  constructor(path: string) {
    this.#fifo = path
    const { status, stderr } = spawnSync('mkfifo', [this.#fifo], { stdio: 'pipe' })
    if (status !== 0) throw new Error(`mkfifo ${this.#fifo}: ${stderr.toString()}`)
  }

  /** File descriptor to read the text from; for the caller to close. The text must fit into a pipe (64 KiB). */
  open(text: string): number {
    // Opening one end for reading would wait for a writer, and the other way round: this is both.
    const both = openSync(this.#fifo, 'r+')
    try {
      const reader = openSync(this.#fifo, 'r')
      writeSync(both, text)
      return reader
    } finally {
      closeSync(both)
    }
  }
}

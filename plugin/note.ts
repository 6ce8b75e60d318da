import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs'

const stderr = 2

/**
 * A line for the runtime's log. Nobody may be reading it: stderr closed, or a pipe that is full, is no reason to fail or
 * to wait for ever, so what a pipe does not take at once is lost. Never throws.
 */
export function note(line: string): void {
  try {
    const target = fstatSync(stderr).isFIFO() ? openAnew() : stderr
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
function openAnew(): number {
  try {
    return openSync(`/proc/self/fd/${stderr}`, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return stderr
  }
}

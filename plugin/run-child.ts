import type { Abandonment } from './abandonment.ts'
import type { StartProgram } from './program.ts'

/** How a child ended. */
export interface ChildEnd {
  /** Exit code; undefined when a signal ended it. */
  readonly exit: number | undefined
  readonly signal: string | undefined
  readonly stdout: string
  readonly stderr: string
  /** Whether its time was up, and it was killed. */
  readonly late: boolean
}

export interface ChildStart {
  /** Path of the executable; it gets no arguments. */
  readonly program: string
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: string
  /** Milliseconds until it is killed. */
  readonly timeoutMs: number
  /** Kills it early. */
  readonly abandonment?: Abandonment | undefined
}

/** Rejects with the system's error when the program cannot be started. */
export type RunChild = (start: ChildStart) => Promise<ChildEnd>

/** Bytes of each stream that are kept; what is beyond is read and dropped, so that the child never waits for us. */
const keptBytes = 8 * 1024 * 1024
/** What a child wrote is in the pipe when it ends. A process that it left behind may hold the pipe open for ever. */
const drainMs = 500

/** What a stream has brought so far. */
class Kept {
  readonly #chunks: Buffer[] = []
  #length = 0

  readonly add = (chunk: Buffer): void => {
    if (this.#length < keptBytes) this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}

/**
 * Makes the one place that starts other plugins. A child inherits neither stdout nor stderr: the runtime waits until
 * everybody has closed them (cni-protocol A9), and stdout is for one document.
 *
 * @param onExit asks for a function to be called when this process ends, so that no child outlives an interrupted run
 */
export function createRunChild(startProgram: StartProgram, onExit: (kill: () => void) => void): RunChild {
  return async ({ program, env, stdin, timeoutMs, abandonment }) => {
    const { promise, resolve, reject } = Promise.withResolvers<ChildEnd>()
    const [stdout, stderr] = [new Kept(), new Kept()]
    let killed = false
    let late = false
    let how: Pick<ChildEnd, 'exit' | 'signal'> = { exit: undefined, signal: undefined }
    let drain: ReturnType<typeof setTimeout> | undefined
    const end = (): void => {
      clearTimeout(drain)
      child.release()
      resolve({ ...how, stdout: stdout.text(), stderr: stderr.text(), late })
    }
    const child = await startProgram(
      { program, words: [], env, isDetached: false },
      {
        failed: reject,
        stdout: stdout.add,
        stdoutEnded: () => undefined,
        stderr: stderr.add,
        exited: (exit, signal) => {
          clearTimeout(timer)
          how = { exit, signal }
          // Nothing more is of interest of one that was killed.
          drain = setTimeout(end, killed ? 0 : drainMs)
        },
        closed: end,
      },
    )
    const kill = (): void => {
      killed = true
      child.kill()
    }
    const timer = setTimeout(() => {
      late = true
      kill()
    }, timeoutMs)
    onExit(kill)
    abandonment?.whenAbandoned(kill)
    child.write(stdin)
    try {
      return await promise
    } finally {
      clearTimeout(timer)
    }
  }
}

/**
 * Has a further process of this executable do something, and waits for no more than its answer, which is one line: the few
 * milliseconds in which that process ends are not waited for. Resolves to what it wrote; false: nothing in time, and it is
 * left to itself; undefined: it could not be started, or ended without a word.
 */
export type AskAside = (word: string, stdin: string, timeoutMs: number) => Promise<string | false | undefined>

/** @param program path of this executable */
export function createAskAside(startProgram: StartProgram, program: string): AskAside {
  return async (word, stdin, timeoutMs) => {
    const { promise, resolve } = Promise.withResolvers<string | false | undefined>()
    const text = new Kept()
    const child = await startProgram(
      { program, words: [word], env: {}, isDetached: true },
      {
        failed: () => {
          resolve(undefined)
        },
        stdout: chunk => {
          text.add(chunk)
          if (text.text().endsWith('\n')) resolve(text.text())
        },
        stdoutEnded: () => {
          resolve(text.text() || undefined)
        },
        stderr: () => undefined,
        exited: () => undefined,
        closed: () => undefined,
      },
    )
    const timer = setTimeout(() => {
      resolve(false)
    }, timeoutMs)
    child.write(stdin)
    const told = await promise
    clearTimeout(timer)
    child.release()
    return told
  }
}

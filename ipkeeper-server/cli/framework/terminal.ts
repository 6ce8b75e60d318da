import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { readSome } from './read-input.ts'
import { systemCode } from '../../../shared/system-code.ts'

/** Where a command may write and what it may know of its process. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /**
   * Asks to be told of SIGINT, SIGTERM and SIGHUP: from this call on they abort the signal, once, and no longer end the
   * process. For commands that must clean up whatever happens.
   */
  readonly interruption?: () => AbortSignal
  /** Whether a person looks at what goes out here. */
  readonly isTerminal?: { readonly out: boolean; readonly err: boolean }
  /** Whether nobody reads stdout any more. */
  readonly readerGone?: () => boolean
  /** Shows how far a long job is, in one line that the next one overwrites; '' takes it away. Only where people look on. */
  readonly progress?: (text: string) => void
  /** Asks whoever sits there and gives the line that is typed; absent where nobody could see the question or answer it. */
  readonly ask?: (question: string) => string
}

/** Whether the person at the terminal says yes; undefined where nobody can be asked. */
export function agrees({ ask }: Terminal, question: string): boolean | undefined {
  return ask && /^y(es)?$/i.test(ask(`${question} [y/N] `).trim())
}

/** What there is to do after the answer was not yes. */
export const notAgreed = 'to go on, answer y, or add --yes'

/** The terminal of a process, and what became of its stdout. */
export interface ProcessTerminal extends Terminal {
  /** Why stdout could not be written, such as ENOSPC; undefined while all is well. */
  readonly outFault: () => string | undefined
}

/** Writes all of a text, however slow the reader of a pipe is. Returns the code of what prevented it. */
function writeWhole(fd: 1 | 2, text: string): string | undefined {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(fd, bytes, done)
    } catch (error) {
      const code = systemCode(error)
      if (code !== 'EAGAIN') return code
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
  return undefined
}

/** A line that a person types, without its end; what is left of it at the end of the input. */
function readLine(): string {
  const bytes: Buffer[] = []
  const byte = Buffer.alloc(1)
  while (readSome(0, byte) > 0 && byte[0] !== 0x0a) bytes.push(Buffer.from(byte))
  return Buffer.concat(bytes).toString('utf8')
}

/** @param onSignal asks for the signals that end a process from outside */
export function openTerminal(
  env: Terminal['env'],
  onSignal: (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP', handle: () => void) => void,
): ProcessTerminal {
  const fault: { out: string | undefined; readerGone: boolean } = { out: undefined, readerGone: false }
  const err = (text: string): void => {
    writeWhole(2, text)
  }
  return {
    env,
    err,
    out: text => {
      const code = writeWhole(1, text)
      // A reader that has gone needs no more text.
      if (code === 'EPIPE') fault.readerGone = true
      else fault.out ??= code
    },
    interruption: () => {
      const interruption = new AbortController()
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
        onSignal(name, () => {
          interruption.abort()
        })
      return interruption.signal
    },
    isTerminal: { out: isatty(1), err: isatty(2) },
    readerGone: () => fault.readerGone,
    outFault: () => fault.out,
    ...(isatty(0) &&
      isatty(2) && {
        ask: (question: string) => {
          err(question)
          return readLine()
        },
      }),
    ...(isatty(2) && {
      progress: (text: string) => {
        err(`\r\u001b[K${text}`)
      },
    }),
  }
}

/** A program that was started. */
export interface Program {
  /** Writes this to its stdin, and closes that. It may well end without reading it. */
  readonly write: (text: string) => void
  /** By SIGKILL; of no effect on one that has ended. */
  readonly kill: () => void
  /** Closes what connects us with it, and leaves it to itself: its listener hears nothing more. */
  readonly release: () => void
}

/** What a program reports. */
export interface ProgramListener {
  /** It could not be started, for which the system's error says why; nothing else is reported then. */
  readonly failed: (error: Error) => void
  readonly stdout: (bytes: Buffer) => void
  readonly stdoutEnded: () => void
  readonly stderr: (bytes: Buffer) => void
  /** By itself, or by a signal such as "SIGKILL". */
  readonly exited: (code: number | undefined, signal: string | undefined) => void
  /** It has ended, and everybody has closed its stdout and stderr. */
  readonly closed: () => void
}

export interface ProgramStart {
  /** Path of the executable. */
  readonly program: string
  readonly words: readonly string[]
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Gives it a session of its own, in "/": what ends this run, such as a signal to its group, is not meant for it. */
  readonly isDetached: boolean
}

/** Starts a program that inherits nothing but its environment: its three standard streams are pipes to us. */
export type StartProgram = (start: ProgramStart, listener: ProgramListener) => Program | Promise<Program>

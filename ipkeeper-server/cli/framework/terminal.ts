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
}

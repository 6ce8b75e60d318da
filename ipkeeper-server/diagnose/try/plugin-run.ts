import type { TriedVerb } from './report.ts'

/** How one run of a plugin ended, before anybody judges it. */
export interface PluginRun {
  readonly verb: TriedVerb
  /** Its `type`. */
  readonly plugin: string
  readonly end:
    | { readonly kind: 'missing'; readonly folders: readonly string[] }
    | { readonly kind: 'not-started'; readonly error: Error }
    | { readonly kind: 'exit'; readonly exit: number }
    | { readonly kind: 'signal'; readonly signal: string }
    /** Its time was up. */
    | { readonly kind: 'late' }
    /** The person at the terminal had enough. */
    | { readonly kind: 'stopped' }
  readonly stdout: string
  readonly stderr: string
  /** Until nobody held its output open any more. */
  readonly milliseconds: number
  /** Until the process itself ended; undefined when it did not. */
  readonly exitedAfter: number | undefined
  readonly timeoutMs: number
}

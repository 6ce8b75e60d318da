import type { JsonObject } from '../../../shared/json/fold.ts'

/** `error`: a pod would not work, or something was left. `warning`: some runtime or plugin may stumble over it. */
export type TrySeverity = 'error' | 'warning' | 'info'

export interface TryFinding {
  readonly severity: TrySeverity
  readonly message: string
  /** What to do; "" where there is nothing. */
  readonly remedy: string
}

export type TriedVerb = 'ADD' | 'CHECK' | 'DEL'

/** One run of one plugin. */
export interface TryStep {
  readonly verb: TriedVerb
  /** Its `type`. */
  readonly plugin: string
  /** Its executable; null when there is none. */
  readonly path: string | null
  /** CNI_* alone: the rest of the environment is that of ipkeeperctl, and may hold secrets. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin: JsonObject
  readonly stdout: string
  readonly stderr: string
  /** null when a signal ended it, or it was not started. */
  readonly exit: number | null
  readonly milliseconds: number
  /** Of an ADD that succeeded: its Result, as the next plugin gets it. */
  readonly result: JsonObject | null
  /** Of one that failed: what libcni would tell its runtime. */
  readonly runtimeSays: string | null
  readonly findings: readonly TryFinding[]
}

export interface Ping {
  readonly gateway: string
  /** null when nobody could try. */
  readonly answered: boolean | null
  readonly findings: readonly TryFinding[]
}

/** What an earlier try left, and what was done about it. */
export interface Earlier {
  readonly namespace: string
  readonly findings: readonly TryFinding[]
}

/** The document of `ipkeeperctl try -o json`. */
export interface TryReport {
  readonly conflist: string
  readonly network: string
  readonly cniVersion: string
  /** Path of the scratch namespace. */
  readonly namespace: string
  readonly containerId: string
  /** NAMESPACE/NAME. */
  readonly pod: string
  readonly earlier: readonly Earlier[]
  /** About the whole. */
  readonly findings: readonly TryFinding[]
  readonly steps: readonly TryStep[]
  readonly ping: readonly Ping[]
  /** What is there now that was not there before. */
  readonly left: readonly TryFinding[]
  readonly ok: boolean
}

/** Parts of a report, told as soon as they are known. */
export type Told =
  | { readonly kind: 'begun'; readonly report: Omit<TryReport, 'steps' | 'ping' | 'left' | 'ok'> }
  | { readonly kind: 'step'; readonly step: TryStep }
  | { readonly kind: 'ping'; readonly ping: Ping }
  /** With what was found about the whole since it was begun. */
  | { readonly kind: 'ended'; readonly left: readonly TryFinding[]; readonly findings: readonly TryFinding[] }

export const failure = (message: string, remedy = ''): TryFinding => ({ severity: 'error', message, remedy })
export const warning = (message: string, remedy = ''): TryFinding => ({
  severity: 'warning',
  message,
  remedy,
})
export const remark = (message: string, remedy = ''): TryFinding => ({ severity: 'info', message, remedy })

export const hasError = (findings: readonly TryFinding[]): boolean =>
  findings.some(({ severity }) => severity === 'error')

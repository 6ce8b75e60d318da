import type { NodeView } from './node-view.ts'

/** warn: not what makes pods fail, or not now. skip: it could not be looked at here. */
export type CheckState = 'ok' | 'warn' | 'fail' | 'skip'

export interface CheckOutcome {
  readonly state: CheckState
  /** One line: what was seen. */
  readonly says: string
  /** The command to type as an argument vector; empty where nothing is to be done. */
  readonly mend: readonly string[]
}

export interface Check {
  readonly id: string
  readonly title: string
  /** One sentence: what goes wrong otherwise. */
  readonly why: string
  readonly run: (node: NodeView) => Promise<CheckOutcome> | CheckOutcome
}

export const ok = (says: string): CheckOutcome => ({ state: 'ok', says, mend: [] })
export const skip = (says: string): CheckOutcome => ({ state: 'skip', says, mend: [] })
export const warn = (says: string, ...mend: readonly string[]): CheckOutcome => ({
  state: 'warn',
  says,
  mend,
})
export const fail = (says: string, ...mend: readonly string[]): CheckOutcome => ({
  state: 'fail',
  says,
  mend,
})

/** Why a system call failed. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)

/** What checks say that need a daemon. */
export const noDaemon = skip('no daemon answers')

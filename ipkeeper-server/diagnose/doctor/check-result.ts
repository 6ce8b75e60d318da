import type { NodeView } from './probe-node.ts'

/** warn: not what makes pods fail, or not now. skip: it could not be looked at here. */
export type CheckState = 'ok' | 'warn' | 'fail' | 'skip'

export interface CheckResult {
  readonly state: CheckState
  /** One line: what was seen. */
  readonly says: string
  /** The command to type as an argument vector; empty where nothing is to be done. */
  readonly mend: readonly string[]
}

/** `Subject` is what is looked at: a node as it is, or as it would be. */
export interface Check<Subject = NodeView> {
  readonly id: string
  readonly title: string
  /** One sentence: what goes wrong otherwise. */
  readonly why: string
  readonly run: (subject: Subject) => Promise<CheckResult> | CheckResult
}

export const ok = (says: string): CheckResult => ({ state: 'ok', says, mend: [] })
export const skip = (says: string): CheckResult => ({ state: 'skip', says, mend: [] })
export const warn = (says: string, ...mend: readonly string[]): CheckResult => ({
  state: 'warn',
  says,
  mend,
})
export const fail = (says: string, ...mend: readonly string[]): CheckResult => ({
  state: 'fail',
  says,
  mend,
})

/** What checks say that need a daemon. */
export const noDaemon = skip('the daemon could not be asked')

/** What a check found, with what a person has to know of it. */
export interface CheckReport extends CheckResult {
  readonly id: string
  readonly title: string
  readonly why: string
}

/** Milliseconds that one check may take. */
const patience = 5000

/** One that fails to look is no check that failed. */
async function runOne<Subject>(check: Check<Subject>, subject: Subject): Promise<CheckResult> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<CheckResult>(resolve => {
    timer = setTimeout(() => {
      resolve(skip(`no result within ${patience / 1000} s`))
    }, patience)
  })
  try {
    return await Promise.race([Promise.resolve(subject).then(check.run), late])
  } catch (error) {
    return skip(`could not be checked: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    clearTimeout(timer)
  }
}

/** All at once; the reports come in the order of the checks. Never rejects. */
export async function runChecks<Subject>(
  checks: readonly Check<Subject>[],
  subject: Subject,
): Promise<readonly CheckReport[]> {
  return await Promise.all(
    checks.map(async check => {
      const { id, title, why } = check
      return { id, title, why, ...(await runOne(check, subject)) }
    }),
  )
}

import { skip, type Check, type CheckOutcome } from './check.ts'
import type { NodeView } from './node-view.ts'

/** What a check found, with what a person has to know of it. */
export interface CheckReport extends CheckOutcome {
  readonly id: string
  readonly title: string
  readonly why: string
}

/** Milliseconds that one check may take. */
const patience = 5000

/** One that fails to look is no check that failed. */
async function runOne(check: Check, node: NodeView): Promise<CheckOutcome> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<CheckOutcome>(resolve => {
    timer = setTimeout(() => {
      resolve(skip(`could not be told within ${patience / 1000} s`))
    }, patience)
  })
  try {
    return await Promise.race([Promise.resolve(node).then(check.run), late])
  } catch (error) {
    return skip(`could not be looked at: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    clearTimeout(timer)
  }
}

/** All at once; the reports come in the order of the checks. Never rejects. */
export async function runChecks(checks: readonly Check[], node: NodeView): Promise<readonly CheckReport[]> {
  return await Promise.all(
    checks.map(async check => {
      const { id, title, why } = check
      return { id, title, why, ...(await runOne(check, node)) }
    }),
  )
}

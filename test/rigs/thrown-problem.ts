import { Problem } from '../../shared/problem/problem.ts'

/** The problem that a call throws or rejects with; an error when it succeeds or throws anything else. */
export async function thrownProblem(run: () => unknown): Promise<Problem> {
  try {
    await run()
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

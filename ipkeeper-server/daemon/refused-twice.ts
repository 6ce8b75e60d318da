import { Problem } from '../../shared/problem/problem.ts'

/** What a person has to correct, and beneath it why there is nothing to go back to. */
export function alsoSaying({ code, message, hint, details }: Problem, more: string): Problem {
  return new Problem(code, message, { hint, details: details === '' ? more : `${details}\n${more}` })
}

/** Neither the file nor what was in force before can be served. */
export function refusedTwice(ofFile: Problem | undefined, ofKept: unknown): unknown {
  if (!ofFile || !(ofKept instanceof Problem)) return ofKept
  return alsoSaying(ofFile, `what was in force before cannot be served either: ${ofKept.message}`)
}

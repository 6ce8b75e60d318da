import type { RuntimeAnswer } from '../runtime/sandboxes.ts'

/** IDs of all sandboxes, where every runtime that is there could be asked. */
export function listedIds(answers: readonly RuntimeAnswer[]): ReadonlySet<string> | undefined {
  const ids = new Set<string>()
  for (const answer of answers) {
    if (answer.state !== 'listed') return undefined
    for (const { id } of answer.sandboxes) ids.add(id)
  }
  return answers.length === 0 ? undefined : ids
}

import fc from 'fast-check'
import { historiesOf, type History, type Kind } from './steps.ts'

/** The history of a seed: the same one as long as nothing is changed in how they are drawn. */
export function historyOf(kind: Kind, seed: number): History {
  const [history] = fc.sample(historiesOf(kind), { numRuns: 1, seed })
  if (!history) throw new Error('nothing was drawn')
  return history
}

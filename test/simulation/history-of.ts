import fc from 'fast-check'
import { historiesOf, type History, type Kind } from './steps.ts'

/** Seeds below it draw what they drew before there were these steps: the table of faults, and what is played at each commit. */
export const takesAwayFrom = 500_000_000

/** Seeds from here on also draw changes of configurations. */
export const configuresFrom = 700_000_000

/** Seeds from here on also draw copies of disks. */
export const copiesFrom = 800_000_000

/** The history of a seed: the same one as long as nothing is changed in how they are drawn. */
export function historyOf(kind: Kind, seed: number): History {
  const drawn = {
    takesAway: seed >= takesAwayFrom,
    configures: seed >= configuresFrom,
    copies: seed >= copiesFrom,
  }
  const [history] = fc.sample(historiesOf(kind, drawn), { numRuns: 1, seed })
  if (!history) throw new Error('nothing was drawn')
  return history
}

import type { BudgetLine } from './budgets.ts'
import type { Figures } from './figures.ts'
import type { Machine } from './machine.ts'

/** bench/results.json. */
export interface Results extends Figures {
  /** Whether it was the short run, whose figures say little. */
  readonly quick: boolean
  readonly machine: Machine
  /** What was measured; "-dirty" behind it where files had changed since. */
  readonly commit: string
  /** Versions of the reference plugins. */
  readonly references: readonly string[]
  readonly loadAfter: number
  readonly budgets: readonly BudgetLine[]
}

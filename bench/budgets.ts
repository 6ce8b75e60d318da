import type { Plan } from './plan.ts'
import type { Figures } from './figures.ts'

/** A promise about speed or size, and what became of it. */
export interface BudgetLine {
  readonly what: string
  readonly unit: string
  readonly bound: 'at most' | 'at least'
  readonly budget: number
  readonly measured: number
  /** How much of the budget is used up; above 1 it is exceeded, whichever way it is bound. */
  readonly ratio: number
  readonly verdict: 'within' | 'over'
}

interface Budget {
  readonly what: string
  readonly unit: string
  readonly bound: 'at most' | 'at least'
  readonly budget: number
  /** undefined when its part was not run. */
  readonly measured: number | undefined
}

/** The rows of the brief's budget table that are measured here; those of whole sandboxes and of leaks are tests. */
function budgets(figures: Figures, plan: Plan): readonly Budget[] {
  const { wholeProcess, daemon, pairs } = figures
  const { levels, memoryAt, startWith } = plan.daemon
  const most = levels.at(-1)
  const filled = daemon?.levels.find(level => level.leases === most)
  const grouped = (count: number | undefined): string => (count ?? NaN).toLocaleString('en')
  const toEmpty = (sort: string): number | undefined =>
    filled?.latencies.find(latency => latency.sort === sort)?.toEmpty
  return [
    {
      what: 'ipkeeper ADD, whole process / trivial executable (aim 1.25)',
      unit: 'x',
      bound: 'at most',
      budget: 1.35,
      measured: wholeProcess?.find(line => line.program === 'ipkeeper' && line.verb === 'ADD')?.toTrivial,
    },
    {
      what: `daemon ADD p50 at ${grouped(most)} leases / at 0, dynamic`,
      unit: 'x',
      bound: 'at most',
      budget: 1.3,
      measured: toEmpty('dynamic'),
    },
    {
      what: `daemon ADD p50 at ${grouped(most)} leases / at 0, by name`,
      unit: 'x',
      bound: 'at most',
      budget: 1.3,
      measured: toEmpty('by name'),
    },
    {
      what: `durable ADD+DEL pairs per second, ${plan.pairs.clients} clients`,
      unit: '/s',
      bound: 'at least',
      budget: 1_500,
      measured: pairs?.pairsPerSecond,
    },
    {
      what: `daemon start with ${grouped(startWith)} leases until ready`,
      unit: 'ms',
      bound: 'at most',
      budget: 2_000,
      measured: daemon?.start.readyMs,
    },
    {
      what: `daemon resident memory, ${grouped(memoryAt)} leases`,
      unit: 'MiB',
      bound: 'at most',
      budget: 150,
      measured: daemon?.levels.find(level => level.leases === memoryAt)?.residentMebibytes,
    },
  ]
}

/** Holds the figures against the budgets. Says what is; decides nothing. */
export function compareWithBudgets(figures: Figures, plan: Plan): readonly BudgetLine[] {
  return budgets(figures, plan).flatMap(({ measured, ...line }): BudgetLine[] => {
    if (measured === undefined) return []
    const used = line.bound === 'at most' ? measured / line.budget : line.budget / measured
    const ratio = Math.round(used * 100) / 100
    return [{ ...line, measured, ratio, verdict: used <= 1 ? 'within' : 'over' }]
  })
}

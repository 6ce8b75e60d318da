import type { Plan } from './plan.ts'
import type { Figures } from './figures.ts'
import type { Contestant, ManyNodesLine } from './many-nodes.ts'
import { engines, type EngineName } from './engines.ts'
import type { MainPluginLine } from './main-plugin.ts'

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

/** The largest of some figures; undefined where there are none. */
function worst(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values)
}

/** What is promised of nodes that share a store. */
function manyNodesBudgets(figures: Figures['manyNodes'], plan: Plan['manyNodes']): readonly Budget[] {
  const most = Math.max(...plan.nodes)
  const fullest = Math.max(...plan.percentFull)
  const emptiest = Math.min(...plan.percentFull)
  const line = (
    engine: EngineName,
    who: Contestant,
    nodes: number,
    full: number,
  ): ManyNodesLine | undefined =>
    figures?.lines.find(
      ({ engine: its, contestant, nodes: count, percentFull }) =>
        its === engine && contestant === who && count === nodes && percentFull === full,
    )
  const calls = (engine: EngineName): number | undefined =>
    worst(figures?.roundTrips.filter(its => its.engine === engine).map(({ perAdd }) => perAdd) ?? [])
  const slower = (engine: EngineName): number | undefined => {
    const ratios = plan.nodes.flatMap(nodes => {
      const [full, empty] = [fullest, emptiest].map(level => line(engine, 'daemon', nodes, level)?.add.p99)
      return full === undefined || empty === undefined ? [] : [full / empty]
    })
    return worst(ratios)
  }
  const ahead = (who: Contestant): number | undefined => {
    const ratios = plan.percentFull.flatMap(level => {
      const [ours, theirs] = [who, 'whereabouts' as const].map(
        name => line('kubernetes', name, most, level)?.addsPerSecond,
      )
      // One that did not get anywhere has no rate to compare with.
      return ours === undefined || theirs === undefined || theirs === 0 ? [] : [ours / theirs]
    })
    return ratios.length === 0 ? undefined : Math.min(...ratios)
  }
  return [
    {
      what: 'calls of etcd for each ADD',
      unit: 'calls',
      bound: 'at most',
      budget: 1,
      measured: calls('etcd'),
    },
    {
      what: 'calls of the Kubernetes API for each ADD of one family',
      ...{ unit: 'calls', bound: 'at most', budget: 2, measured: calls('kubernetes') },
    },
    ...engines.map((engine): Budget => ({
      what: `${engine}: daemon ADD p99 with a pool ${fullest} % full / ${emptiest} %, worst of 1 to ${most} nodes`,
      ...{ unit: 'x', bound: 'at most', budget: 1.5, measured: slower(engine) },
    })),
    {
      what: `kubernetes: ADDs per second of ${most} daemons / of whereabouts`,
      ...{ unit: 'x', bound: 'at least', budget: 10, measured: ahead('daemon') },
    },
    {
      what: `kubernetes: ADDs per second of ${most} nodes, whole plugins / of whereabouts`,
      ...{ unit: 'x', bound: 'at least', budget: 10, measured: ahead('plugin') },
    },
  ]
}

/** The rows of the brief's budget table that are measured here; that of leaks is a test. */
function budgets(figures: Figures, plan: Plan): readonly Budget[] {
  const { wholeProcess, daemon, pairs, mainPlugin } = figures
  const mostPods = plan.mainPlugin.levels.at(-1)
  const wired = (what: MainPluginLine['what'], atOnce = 1): readonly MainPluginLine[] =>
    mainPlugin?.lines.filter(line => line.what === what && line.atOnce === atOnce) ?? []
  const wiredToEmpty = (what: 'ADD' | 'DEL'): number | undefined =>
    wired(what).find(line => line.pods === mostPods)?.toEmpty ?? undefined
  const { levels, memoryAt, startWith } = plan.daemon
  const most = levels.at(-1)
  const filled = daemon?.levels.find(level => level.leases === most)
  const grouped = (count: number | undefined): string => (count ?? NaN).toLocaleString('en')
  const toEmpty = (sort: string): number | undefined =>
    filled?.latencies.find(latency => latency.sort === sort)?.toEmpty
  return [
    {
      what: 'ipkeeper ADD, whole process / trivial executable',
      unit: 'x',
      bound: 'at most',
      budget: 1.15,
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
    {
      what: 'RunPodSandbox with ipkeeper as main plugin / bridge + host-local',
      unit: 'x',
      bound: 'at most',
      budget: 1.3,
      measured: worst(wired('RunPodSandbox').map(line => line.toReference)),
    },
    {
      what: 'DEL of the main plugin / bridge + host-local',
      unit: 'x',
      bound: 'at most',
      budget: 1,
      measured: worst(wired('DEL').map(line => line.toReference)),
    },
    ...(['ADD', 'DEL'] as const).map((verb): Budget => ({
      what: `${verb} of the main plugin at ${grouped(mostPods)} pods / at 0`,
      unit: 'x',
      bound: 'at most',
      budget: 1.3,
      measured: wiredToEmpty(verb),
    })),
    ...manyNodesBudgets(figures.manyNodes, plan.manyNodes),
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

import type { Plan } from './plan.ts'
import type { Figures } from './figures.ts'
import type { Contestant, ManyNodesLine } from './many-nodes.ts'
import { engines, type EngineName } from './engines.ts'
import type { MainPluginLine } from './main-plugin.ts'
import type { WholeProcessLine } from './whole-process.ts'

/** A promise about speed or size, and what became of it. */
export interface BudgetLine {
  readonly what: string
  readonly unit: string
  readonly bound: 'at most' | 'at least'
  readonly budget: number
  readonly measured: number
  /** How much of the budget is used up; above 1 it is exceeded, whichever way it is bound. */
  readonly ratio: number
  readonly verdict: 'met' | 'missed'
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

const atMost = (budget: number, what: string, measured: number | undefined): Budget => ({
  ...{ what, unit: 'x', bound: 'at most', budget, measured },
})

/** What is promised of whole processes. Where there are several references, that by which the figure is worst. */
function pluginBudgets({ wholeProcess, mainPlugin }: Figures, plan: Plan['mainPlugin']): readonly Budget[] {
  const delegate = (program: string): WholeProcessLine | undefined =>
    wholeProcess?.find(line => line.program === program && line.verb === 'ADD')
  // With the way of wiring that a daemon has unless it is told otherwise.
  const wired = (
    what: MainPluginLine['what'],
    plugin: MainPluginLine['plugin'],
    atOnce = 1,
  ): MainPluginLine[] =>
    mainPlugin?.lines.filter(
      line =>
        line.what === what && line.plugin === plugin && line.wiring === 'netlink' && line.atOnce === atOnce,
    ) ?? []
  const toReference = (
    lines: readonly (MainPluginLine | WholeProcessLine | undefined)[],
  ): number | undefined => worst(lines.flatMap(line => Object.values(line?.toReferences ?? {})))
  const mostAtOnce = Math.max(...plan.atOnce)
  const mostPods = Math.max(...plan.levels)
  const burst = Math.max(...plan.bursts)
  return [
    atMost(1.15, 'Node plugin as IPAM delegate, ADD / trivial executable', delegate('ipkeeper')?.toTrivial),
    atMost(
      1.3,
      'static plugin as IPAM delegate, ADD / host-local',
      toReference([delegate('ipkeeper-static')]),
    ),
    atMost(0.9, 'main plugin, static, ADD / bridge + host-local', toReference(wired('ADD', 'static'))),
    atMost(0.5, 'main plugin, static, DEL / bridge + host-local', toReference(wired('DEL', 'static'))),
    atMost(1, 'RunPodSandbox, static / bridge + host-local', toReference(wired('RunPodSandbox', 'static'))),
    atMost(1.2, 'RunPodSandbox, Node / bridge + host-local', toReference(wired('RunPodSandbox', 'Node'))),
    atMost(
      1.2,
      `${mostAtOnce} ADDs at once, static, each / bridge + host-local`,
      toReference(wired('ADD', 'static', mostAtOnce)),
    ),
    atMost(
      1.2,
      `${mostAtOnce} ADDs at once, static, until all have ended / bridge + host-local`,
      toReference(wired('all ADDs', 'static', mostAtOnce)),
    ),
    atMost(
      3,
      `${burst} ADDs at once, static, slowest / median`,
      worst(wired('ADD', 'static', burst).map(({ times }) => times.max / times.p50)),
    ),
    ...(['ADD', 'DEL'] as const).map(verb =>
      atMost(
        1.3,
        `main plugin, ${verb} at ${mostPods} pods / at 0, worse of both executables`,
        worst(
          [...wired(verb, 'static'), ...wired(verb, 'Node')].flatMap(({ pods, toEmpty }) =>
            pods === mostPods && toEmpty !== null ? [toEmpty] : [],
          ),
        ),
      ),
    ),
  ]
}

/** What is promised of one daemon. */
function daemonBudgets({ daemon, pairs }: Figures, plan: Plan): readonly Budget[] {
  const { levels, memoryAt, startWith } = plan.daemon
  const most = levels.at(-1)
  const filled = daemon?.levels.find(level => level.leases === most)
  const grouped = (count: number | undefined): string => (count ?? NaN).toLocaleString('en')
  return [
    ...(['dynamic', 'by name'] as const).map(sort =>
      atMost(
        1.1,
        `daemon ADD p50 at ${grouped(most)} leases / at 0, ${sort}`,
        filled?.latencies.find(latency => latency.sort === sort)?.toEmpty,
      ),
    ),
    {
      what: `durable ADD+DEL pairs per second, ${plan.pairs.clients} clients`,
      unit: '/s',
      bound: 'at least',
      budget: 3_000,
      measured: pairs?.pairsPerSecond,
    },
    {
      what: `daemon start with ${grouped(startWith)} leases until ready`,
      unit: 'ms',
      bound: 'at most',
      budget: 1_000,
      measured: daemon?.start.readyMs,
    },
    {
      what: `daemon resident memory, ${grouped(memoryAt)} leases`,
      unit: 'MiB',
      bound: 'at most',
      budget: 140,
      measured: daemon?.levels.find(level => level.leases === memoryAt)?.residentMebibytes,
    },
  ]
}

const budgets = (figures: Figures, plan: Plan): readonly Budget[] => [
  ...pluginBudgets(figures, plan.mainPlugin),
  ...daemonBudgets(figures, plan),
  ...manyNodesBudgets(figures.manyNodes, plan.manyNodes),
]

/** Holds the figures against the budgets. Says what is; decides nothing. */
export function compareWithBudgets(figures: Figures, plan: Plan): readonly BudgetLine[] {
  return budgets(figures, plan).flatMap(({ measured, ...line }): BudgetLine[] => {
    if (measured === undefined) return []
    const used = line.bound === 'at most' ? measured / line.budget : line.budget / measured
    const ratio = Math.round(used * 100) / 100
    return [{ ...line, measured, ratio, verdict: used <= 1 ? 'met' : 'missed' }]
  })
}

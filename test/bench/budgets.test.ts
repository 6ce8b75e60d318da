import t from 'tap'
import { compareWithBudgets } from '../../bench/budgets.ts'
import type { MainPluginLine } from '../../bench/main-plugin.ts'
import { fullPlan } from '../../bench/plan.ts'
import { summarize } from '../../bench/statistics.ts'
import type { WholeProcessLine } from '../../bench/whole-process.ts'

const usage = { processorMs: 1, pageFaults: 1, peakMebibytes: 1 }

const delegate = (
  program: string,
  toTrivial: number,
  ...[old, current]: readonly [number, number]
): WholeProcessLine => ({
  ...{ program, verb: 'ADD', ...summarize([1]), ...usage, toTrivial, toTrivialPaired: toTrivial },
  toReferences: { '1.1.1': old, '1.9.1': current },
})

const wired = (
  what: MainPluginLine['what'],
  who: 'static netlink' | 'static ip' | 'Node netlink',
  {
    times = [1],
    ...shape
  }: {
    readonly pods?: number
    readonly atOnce?: number
    readonly toEmpty?: number
    readonly times?: readonly number[]
  },
  ...[old, current]: readonly [number, number]
): MainPluginLine => {
  const [plugin, wiring] = who.split(' ') as ['static' | 'Node', 'netlink' | 'ip']
  return {
    ...{ what, pods: 0, atOnce: 1, toEmpty: null, ...shape, plugin, wiring, reference: null },
    ...{ times: summarize(times), toReferences: { '1.1.1': old, '1.9.1': current } },
  }
}

t.test('the worst figure of what a budget is for is held against it', t => {
  const lines = compareWithBudgets(
    {
      wholeProcess: [delegate('ipkeeper', 1.15, 9, 9), delegate('ipkeeper-static', 9, 1.2, 1.4)],
      mainPlugin: {
        lines: [
          wired('ADD', 'static netlink', {}, 0.8, 0.7),
          wired('ADD', 'static netlink', { pods: 500, toEmpty: 1.1 }, 0.85, 0.7),
          wired('ADD', 'Node netlink', { pods: 500, toEmpty: 1.5 }, 3, 3),
          wired('ADD', 'static ip', {}, 5, 5),
          wired('ADD', 'static netlink', { atOnce: 20, toEmpty: 9 }, 1.1, 1),
          wired('all ADDs', 'static netlink', { atOnce: 20 }, 1.3, 1),
          wired('ADD', 'static netlink', { atOnce: 50, times: [1, 1, 9] }, 9, 9),
          wired('ADD', 'static netlink', { atOnce: 100, times: [2, 2, 5] }, 9, 9),
          wired('RunPodSandbox', 'Node netlink', {}, 1.2, 1.19),
        ],
      },
    },
    fullPlan,
  )
  t.strictSame(
    lines.map(({ what, budget, measured, verdict }) => [what, budget, measured, verdict]),
    [
      ['Node plugin as IPAM delegate, ADD / trivial executable', 1.15, 1.15, 'met'],
      ['static plugin as IPAM delegate, ADD / host-local', 1.3, 1.4, 'missed'],
      ['main plugin, static, ADD / bridge + host-local', 0.9, 0.85, 'met'],
      ['RunPodSandbox, Node / bridge + host-local', 1.2, 1.2, 'met'],
      ['20 ADDs at once, static, each / bridge + host-local', 1.2, 1.1, 'met'],
      ['20 ADDs at once, static, until all have ended / bridge + host-local', 1.2, 1.3, 'missed'],
      ['100 ADDs at once, static, slowest / median', 3, 2.5, 'met'],
      ['main plugin, ADD at 500 pods / at 0, worse of both executables', 1.3, 1.5, 'missed'],
    ],
  )
  t.end()
})

t.test('a rate is to be at least its budget, and what was not measured has no line', t => {
  const pairs = {
    clients: 32,
    seconds: 10,
    add: summarize([1]),
    del: summarize([1]),
    daemonCores: 1,
    loadCores: 1,
  }
  for (const [pairsPerSecond, ratio, verdict] of [
    [3_000, 1, 'met'],
    [2_000, 1.5, 'missed'],
    [6_000, 0.5, 'met'],
  ] as const) {
    const lines = compareWithBudgets({ pairs: { ...pairs, pairsPerSecond } }, fullPlan)
    t.match(lines, [{ bound: 'at least', budget: 3_000, measured: pairsPerSecond, ratio, verdict }])
    t.equal(lines.length, 1)
  }
  t.end()
})

import t from 'tap'
import { compareWithBudgets } from '../../bench/budgets.ts'
import type { Figures } from '../../bench/figures.ts'
import { fullPlan } from '../../bench/plan.ts'
import { formatReport } from '../../bench/report.ts'
import { summarize } from '../../bench/statistics.ts'

const usage = { processorMs: 2.5, pageFaults: 1_630, peakMebibytes: 3.25 }
const times = summarize([4, 4.5, 5])
const ratios = { toTrivial: 0.2, toTrivialPaired: 0.2, toReferences: { '1.1.1': 1.25, '1.9.1': 1.5 } }

const figures: Figures = {
  wholeProcess: [
    { program: '/bin/true', verb: null, ...times, ...usage, ...ratios, toReferences: {} },
    { program: 'ipkeeper-static', verb: 'ADD', ...times, ...usage, ...ratios },
  ],
  mainPlugin: {
    lines: [
      {
        ...{ what: 'ADD', pods: 0, atOnce: 1, plugin: 'static', wiring: 'netlink', reference: null },
        ...{ times: { ...times, ...usage }, toReferences: { '1.1.1': 0.75, '1.9.1': 0.5 }, toEmpty: 1.125 },
      },
      {
        ...{ what: 'RunPodSandbox', pods: 0, atOnce: 1, plugin: null, wiring: null, reference: '1.9.1' },
        ...{ times, toReferences: { '1.1.1': 1.5, '1.9.1': 1 }, toEmpty: null },
      },
    ],
  },
}

t.test('names the machine and ends with the budgets', t => {
  const report = formatReport({
    quick: false,
    machine: {
      ...{ name: 'host-1', cpu: 'CPU', cores: 2, memoryGibibytes: 8, system: 'Debian 12', kernel: '6.1' },
      ...{ node: 'v24.0.0', storage: 'ext4', date: '2026-01-01T00:00:00Z', loadBefore: 0.1 },
    },
    commit: '0123456789ab',
    references: ['1.1.1', '1.9.1'],
    loadAfter: 0.5,
    budgets: compareWithBudgets(figures, fullPlan),
    ...figures,
  })
  const lines = report.split('\n').map(line => line.trim().split(/ {2,}/))
  t.strictSame(report.split('\n').slice(0, 3), [
    'host-1: CPU, 2 cores, 8 GiB; Debian 12, Linux 6.1; Node v24.0.0; ext4; 2026-01-01T00:00:00Z',
    'commit 0123456789ab; reference plugins 1.1.1, 1.9.1',
    'load average 0.1 before, 0.5 after',
  ])
  for (const row of [
    ['/bin/true', '-', '4.50', '4.95', '4.99', '2.50', '1,630', '3.3', '0.20 x', '0.20 x', '-', '-'],
    [
      'ipkeeper-static',
      'ADD',
      '4.50',
      '4.95',
      '4.99',
      '2.50',
      '1,630',
      '3.3',
      '0.20 x',
      '0.20 x',
      '1.25 x',
      '1.50 x',
    ],
    [
      'ADD',
      '0',
      '1',
      'static, netlink',
      '4.50',
      '4.95',
      '4.99',
      '2.50',
      '1,630',
      '3.3',
      '0.75 x',
      '0.50 x',
      '1.13 x',
    ],
    [
      'RunPodSandbox',
      '0',
      '1',
      'reference 1.9.1',
      '4.50',
      '4.95',
      '4.99',
      '-',
      '-',
      '-',
      '1.50 x',
      '1.00 x',
      '-',
    ],
  ])
    t.ok(
      lines.some(line => line.join('|') === row.join('|')),
      row.join(' '),
    )
  t.strictSame(
    report
      .slice(report.indexOf('Budgets'))
      .trim()
      .split('\n')
      .map(line => line.trim().split(/ {2,}/)),
    [
      ['Budgets'],
      ['WHAT', 'BUDGET', 'MEASURED', 'USED'],
      ['static plugin as IPAM delegate, ADD / host-local', 'at most 1.30 x', '1.50 x', '1.15', 'missed'],
      ['main plugin, static, ADD / bridge + host-local', 'at most 0.90 x', '0.75 x', '0.83', 'met'],
    ],
  )
  t.end()
})

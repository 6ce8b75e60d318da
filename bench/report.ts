import { formatTable } from '../ipkeeper-server/cli/framework/terminal-text.ts'
import type { DaemonFigures } from './daemon.ts'
import type { MainPluginFigures } from './main-plugin.ts'
import type { ToReferences } from './measured-plugins.ts'
import type { ManyNodesFigures } from './many-nodes.ts'
import type { PairFigures } from './pairs.ts'
import type { Results } from './results.ts'
import type { RunSummary, Summary } from './statistics.ts'
import type { WholeProcessLine } from './whole-process.ts'

const count = (value: number): string => value.toLocaleString('en')
const ms = (value: number): string => value.toFixed(value < 10 ? 2 : 1)
const times = (value: number): string => `${value.toFixed(2)} x`
const spread = ({ p50, p95, p99 }: Summary): string[] => [p50, p95, p99].map(ms)

function table(title: string, header: readonly string[], rows: readonly (readonly string[])[]): string {
  return `${title}\n${formatTable(header, rows, 'nothing')}`
}

const usage = (summary: Summary | RunSummary): string[] =>
  'processorMs' in summary
    ? [ms(summary.processorMs), count(Math.round(summary.pageFaults)), summary.peakMebibytes.toFixed(1)]
    : ['-', '-', '-']

/** Columns of quotients by each version of the reference plugins. */
const versionsOf = (lines: readonly { readonly toReferences: ToReferences }[]): string[] => [
  ...new Set(lines.flatMap(({ toReferences }) => Object.keys(toReferences))),
]
const quotients = (toReferences: ToReferences, versions: readonly string[]): string[] =>
  versions.map(version => {
    const quotient = toReferences[version]
    return quotient === undefined ? '-' : times(quotient)
  })

function wholeProcess(lines: readonly WholeProcessLine[]): string {
  const versions = versionsOf(lines)
  return table(
    `Whole process, milliseconds (${lines[0]?.count ?? 0} rounds, programs in turns)`,
    [
      ...['PROGRAM', 'VERB', 'P50', 'P95', 'P99', 'CPU', 'FAULTS', 'PEAK MIB', '/ TRIVIAL', 'PAIRED'],
      ...versions.map(version => `/ HOST-LOCAL ${version}`),
    ],
    lines.map(line => [
      line.program,
      line.verb ?? '-',
      ...spread(line),
      ...usage(line),
      times(line.toTrivial),
      times(line.toTrivialPaired),
      ...quotients(line.toReferences, versions),
    ]),
  )
}

function daemon({ levels, filling, start }: DaemonFigures): string[] {
  return [
    table(
      `Daemon over its socket, milliseconds (one request at a time, ${levels[0]?.latencies[0]?.add.count ?? 0} pairs each)`,
      [
        ...[
          'LEASES',
          'REQUEST',
          'ADD P50',
          'P95',
          'P99',
          'DEL P50',
          'P95',
          'P99',
          'EMPTY ADD P50',
          '/ EMPTY',
        ],
        ...['RESIDENT MIB', 'HOST-LOCAL ADD'],
      ],
      levels.flatMap(level =>
        level.latencies.map((latency, index) => [
          count(level.leases),
          latency.sort,
          ...spread(latency.add),
          ...spread(latency.del),
          ms(latency.emptyAddP50),
          times(latency.toEmpty),
          ...(index > 0
            ? []
            : [
                level.residentMebibytes.toFixed(1),
                level.hostLocalAdd === null ? 'not installed' : ms(level.hostLocalAdd),
              ]),
        ]),
      ),
    ),
    `Filling with ${filling.clients} clients: ${count(filling.addsPerSecond)} ADDs per second up to ${count(filling.leases)} leases.\n`,
    `Start with ${count(start.leases)} leases until ready: ${count(Math.round(start.readyMs))} ms ` +
      `(${start.each.map(each => count(Math.round(each))).join(', ')}); ` +
      `resident then ${start.residentMebibytes.toFixed(1)} MiB.\n`,
  ]
}

function pairs(figures: PairFigures): string[] {
  return [
    table(
      `Durable pairs, milliseconds (${figures.clients} clients, ${figures.seconds} s)`,
      ['PAIRS/S', 'ADD P50', 'P95', 'P99', 'DEL P50', 'P95', 'P99', 'CORES: DAEMON', 'LOAD'],
      [
        [
          count(figures.pairsPerSecond),
          ...spread(figures.add),
          ...spread(figures.del),
          figures.daemonCores.toFixed(2),
          figures.loadCores.toFixed(2),
        ],
      ],
    ),
  ]
}

function mainPlugin({ lines }: MainPluginFigures): string {
  const versions = versionsOf(lines)
  return table(
    'Whole plugin, milliseconds (ipkeeper as main plugin by its executable and way of wiring, and bridge + host-local by version, in turns)',
    [
      ...['WHAT', 'PODS', 'AT ONCE', 'WHO', 'P50', 'P95', 'P99', 'CPU', 'FAULTS', 'PEAK MIB'],
      ...versions.map(version => `/ REFERENCE ${version}`),
      '/ EMPTY',
    ],
    lines.map(line => [
      line.what,
      count(line.pods),
      count(line.atOnce),
      line.reference === null ? `${line.plugin ?? ''}, ${line.wiring ?? ''}` : `reference ${line.reference}`,
      ...spread(line.times),
      ...usage(line.times),
      ...quotients(line.toReferences, versions),
      line.toEmpty === null ? '-' : times(line.toEmpty),
    ]),
  )
}

function manyNodes({ poolSize, whereabouts, lines, roundTrips }: ManyNodesFigures): string[] {
  const beside = whereabouts === null ? 'whereabouts is not built' : `whereabouts ${whereabouts}`
  return [
    table(
      `Many nodes on one pool of ${count(poolSize)} addresses, milliseconds (ADD and DEL in turns, one pod at a time on ` +
        `each node; nodes, engine and load on this one machine; etcd does not sync; ${beside})`,
      [
        ...['ENGINE', 'WHO', 'NODES', 'POOL FULL', 'ADD P50', 'P95', 'P99', 'MAX', 'ADDS/S', 'FAILED'],
        'CALLS / ADD + DEL',
      ],
      lines.map(line => [
        line.engine,
        line.contestant,
        count(line.nodes),
        `${line.percentFull} %`,
        ...spread(line.add),
        ms(line.add.max),
        line.addsPerSecond.toFixed(line.addsPerSecond < 10 ? 2 : 0),
        `${line.failed} of ${line.failed + line.add.count}`,
        line.callsPerPair.toFixed(2),
      ]),
    ),
    table(
      'Calls of an engine for each ADD',
      ['ENGINE', 'POOL FULL', 'ADDS', 'CALLS / ADD', 'WHICH'],
      roundTrips.map(({ engine, percentFull, adds, calls, perAdd }) => [
        ...[engine, `${percentFull} %`, count(adds), perAdd.toFixed(2)],
        Object.entries(calls)
          .map(([name, each]) => `${name} ${each}`)
          .join(', '),
      ]),
    ),
  ]
}

/** Everything that was measured, for a person. */
export function formatReport(results: Results): string {
  const { machine, budgets } = results
  const value = (number: number, unit: string): string =>
    `${Number.isInteger(number) || number >= 1_000 ? count(Math.round(number)) : number.toFixed(2)} ${unit}`
  return [
    `${machine.name}: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGibibytes} GiB; ${machine.system}, ` +
      `Linux ${machine.kernel}; Node ${machine.node}; ${machine.storage}; ${machine.date}\n` +
      `commit ${results.commit}; reference plugins ${results.references.join(', ') || 'not installed'}\n` +
      `load average ${machine.loadBefore} before, ${results.loadAfter} after` +
      `${results.quick ? '; a quick run: its figures say little' : ''}\n`,
    ...(results.wholeProcess ? [wholeProcess(results.wholeProcess)] : []),
    ...(results.daemon ? daemon(results.daemon) : []),
    ...(results.pairs ? pairs(results.pairs) : []),
    ...(results.mainPlugin ? [mainPlugin(results.mainPlugin)] : []),
    ...(results.manyNodes ? manyNodes(results.manyNodes) : []),
    table(
      'Budgets',
      ['WHAT', 'BUDGET', 'MEASURED', 'USED', ''],
      budgets.map(line => [
        line.what,
        `${line.bound} ${value(line.budget, line.unit)}`,
        value(line.measured, line.unit),
        line.ratio.toFixed(2),
        line.verdict,
      ]),
    ),
  ].join('\n')
}

/**
 * The benchmarks: what a pod's start pays for ipkeeper, and how the daemon behaves as leases and clients grow.
 *
 *   node bench/main.ts                      everything, 15 to 30 minutes
 *   node bench/main.ts --quick              the same steps with small numbers, some minutes
 *   node bench/main.ts --only PART          whole-process, daemon, pairs, main-plugin or many-nodes;
 *                                         may be repeated
 *   node bench/main.ts --output FILE        where the figures go as JSON
 *
 * Without --output a whole run writes bench/results.json; a quick or partial one must not put itself in its place, and
 * writes nothing. The tables go to stdout, progress to stderr. Figures never decide the exit code: they belong to a
 * machine and an hour. Needs the packaged executables and dist/trivial ("make bench" builds them) and a C compiler, for
 * what starts the programs that are measured (starter.c); everything stays on unix sockets in folders of its own, and in
 * namespaces of its own where pods are wired, and is gone at the end, also after SIGINT. The part main-plugin needs root and the
 * reference plugins, and many-nodes an API server (make test-cluster); they are left out where these are missing. The static
 * plugin (make static), current reference plugins (make callers) and whereabouts are measured where they are built.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readSource } from '../scripts/read-source.ts'
import { missing } from '../test/rigs/requirements.ts'
import { compareWithBudgets } from './budgets.ts'
import { measureDaemon } from './daemon.ts'
import { describeMachine, loadNow } from './machine.ts'
import { measureMainPlugin } from './main-plugin.ts'
import { measureManyNodes } from './many-nodes.ts'
import { findReferences } from './measured-plugins.ts'
import { measurePairs } from './pairs.ts'
import { fullPlan, quickPlan } from './plan.ts'
import { formatReport } from './report.ts'
import { parts, type Figures, type Part } from './figures.ts'
import type { Results } from './results.ts'
import { measureWholeProcess } from './whole-process.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    output: { type: 'string' },
  },
})
for (const name of options.only) {
  if (!parts.some(part => part === name)) {
    throw new Error(`--only must be one of ${parts.join(', ')}, not ${name}`)
  }
}
const lacking = missing('executables')
if (lacking !== false) throw new Error(`the benchmarks ${lacking}`)

const plan = options.quick ? quickPlan : fullPlan
const wants = (part: Part): boolean => options.only.length === 0 || options.only.includes(part)
const progress = (line: string): void => {
  console.error(`bench: ${line}`)
}

const unwired = missing('namespaces', 'nft', 'reference-plugins')
if (wants('main-plugin') && unwired !== false) progress(`main plugin: left out, it ${unwired}`)

const alone = missing('cluster')
if (wants('many-nodes') && alone !== false) progress(`many nodes: left out, it ${alone}`)

const machine = describeMachine()
const figures: Figures = {
  ...(wants('whole-process') && { wholeProcess: await measureWholeProcess(plan.wholeProcess, progress) }),
  ...(wants('daemon') && { daemon: await measureDaemon(plan.daemon, progress) }),
  ...(wants('pairs') && { pairs: await measurePairs(plan.pairs, progress) }),
  ...(wants('main-plugin') &&
    unwired === false && { mainPlugin: await measureMainPlugin(plan.mainPlugin, progress) }),
  ...(wants('many-nodes') &&
    alone === false && { manyNodes: await measureManyNodes(plan.manyNodes, progress) }),
}
const results: Results = {
  quick: options.quick,
  machine,
  commit: readSource(join(import.meta.dirname, '..'), process.env).commit,
  references: findReferences().map(({ version }) => version),
  loadAfter: loadNow(),
  budgets: compareWithBudgets(figures, plan),
  ...figures,
}
const whole = !options.quick && options.only.length === 0
const output = options.output ?? (whole ? join(import.meta.dirname, 'results.json') : undefined)
if (output !== undefined) {
  writeFileSync(output, `${JSON.stringify(results, null, 2)}\n`)
  progress(`wrote ${output}`)
}
process.stdout.write(`\n${formatReport(results)}`)

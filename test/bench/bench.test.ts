/**
 * That the benchmarks run and say what they found. How fast anything was is not looked at: other tests run beside this
 * one, on whatever machine there is.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { MainPluginLine } from '../../bench/main-plugin.ts'
import { findExecutables, findReferences } from '../../bench/measured-plugins.ts'
import { hasWhereabouts } from '../../bench/whereabouts.ts'
import type { Results } from '../../bench/results.ts'
import { missing } from '../rigs/requirements.ts'
import { mustRun, runProgram } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const root = join(import.meta.dirname, '..', '..')
const main = join(root, 'bench', 'main.ts')
const skip = missing('executables', 'c-compiler')
const folder = tempFolder(t)

t.test('a quick run prints every table and writes the figures', { skip, timeout: 400_000 }, async t => {
  await mustRun(process.execPath, [join(root, 'scripts', 'build-executables.ts'), '--trivial'])
  const output = folder.file('results.json')
  const text = await mustRun(process.execPath, [main, '--quick', '--output', output], { timeoutMs: 390_000 })

  for (const title of ['Whole process', 'Daemon over its socket', 'Durable pairs', 'Budgets']) {
    t.match(text, new RegExp(`^${title}`, 'm'), title)
  }
  const { wholeProcess, daemon, pairs, mainPlugin, manyNodes, budgets, machine, references, quick } =
    JSON.parse(readFileSync(output, 'utf8')) as Results
  t.equal(quick, true)
  t.match(machine, {
    name: String,
    cpu: String,
    cores: Number,
    kernel: String,
    node: process.version,
    storage: String,
  })

  const programs = wholeProcess?.map(line => `${line.program} ${line.verb ?? ''}`.trim()) ?? []
  const pairsOf = (...names: readonly string[]): readonly string[] =>
    names.flatMap(name => [`${name} ADD`, `${name} DEL`])
  const executables = findExecutables()
  const versions = findReferences().map(({ version }) => version)
  t.same(programs, [
    ...['/bin/true', 'trivial'],
    ...pairsOf(...executables.map(({ name }) => (name === 'static' ? 'ipkeeper-static' : 'ipkeeper'))),
    ...pairsOf(...versions.map(version => `host-local ${version}`)),
  ])
  t.same(references, versions)
  for (const line of wholeProcess ?? []) {
    t.ok(line.p50 > 0 && line.p50 <= line.p95 && line.p95 <= line.p99 && line.p99 <= line.max, line.program)
    t.ok(line.processorMs > 0 && line.pageFaults > 0 && line.peakMebibytes > 0, line.program)
    t.same(Object.keys(line.toReferences), line.verb === null ? [] : versions, line.program)
  }

  t.equal(daemon?.levels[0]?.leases, 0)
  for (const { leases, latencies, residentMebibytes } of daemon?.levels ?? []) {
    t.same(
      latencies.map(latency => latency.sort),
      ['dynamic', 'by name'],
      `at ${leases} leases`,
    )
    t.ok(residentMebibytes > 0)
  }
  t.ok((daemon?.start.each.length ?? 0) > 0)
  t.ok((pairs?.pairsPerSecond ?? 0) > 0)
  t.equal(pairs?.clients, 32)

  const wired = missing('namespaces', 'nft', 'reference-plugins') === false
  const sandboxes = wired && missing('containerd') === false
  if (wired) {
    t.match(text, /^Whole plugin/m)
    const verbs = [
      ...['ADD', 'ADD beside a machine', 'DEL', 'all ADDs', 'all DELs'],
      ...(sandboxes ? ['RunPodSandbox', 'StopPodSandbox'] : []),
    ]
    t.same([...new Set(mainPlugin?.lines.map(({ what }) => what))].sort(), verbs.sort())
    const who = (line: MainPluginLine): string =>
      line.reference === null ? `${line.plugin ?? ''} ${line.wiring ?? ''}` : line.reference
    const everybody = [
      ...executables.flatMap(({ name }) => [`${name} netlink`, `${name} ip`]),
      ...versions,
    ].sort()
    for (const what of verbs.filter(verb => verb !== 'ADD beside a machine')) {
      const lines = mainPlugin?.lines.filter(line => line.what === what) ?? []
      t.same([...new Set(lines.map(who))].sort(), everybody, what)
    }
    for (const line of mainPlugin?.lines ?? []) {
      const { what, times, toReferences, toEmpty } = line
      t.ok(times.p50 > 0, `${what}, ${who(line)}`)
      t.same(Object.keys(toReferences).sort(), [...versions].sort(), `${what}, ${who(line)}`)
      t.equal('processorMs' in times, ['ADD', 'DEL', 'ADD beside a machine'].includes(what), what)
      const isCompared = line.wiring === 'netlink' && /^(all )?(ADD|DEL)s?$/.test(what)
      t.equal(toEmpty !== null, isCompared, `${what} / that of a node without pods, ${who(line)}`)
    }
  }

  const many = missing('cluster') === false
  const rival = many && hasWhereabouts()
  if (many) {
    t.match(text, /^Many nodes on one pool/m)
    const who = ['daemon', 'plugin', ...(rival ? ['whereabouts'] : [])]
    t.same([...new Set(manyNodes?.lines.map(({ contestant }) => contestant))], who)
    for (const { engine, contestant, add, failed, firstFailure } of manyNodes?.lines ?? []) {
      if (contestant !== 'whereabouts') t.equal(failed, 0, `${engine}, ${contestant}: ${firstFailure ?? ''}`)
      t.ok(add.count > 0, contestant)
    }
    for (const { engine, perAdd } of manyNodes?.roundTrips ?? [])
      t.equal(perAdd, engine === 'etcd' ? 1 : 2, `calls of ${engine} for each ADD`)
  }

  const isStatic = executables.length > 1
  const ofPlugins = (isStatic && versions.length > 0 ? 2 : 1) + (wired ? (isStatic ? 7 : 2) : 0)
  const ofSandboxes = sandboxes ? executables.length : 0
  t.equal(budgets.length, ofPlugins + ofSandboxes + 5 + (many ? 4 : 0) + (rival ? 2 : 0))
  for (const { what, bound, budget, measured, verdict } of budgets) {
    t.equal(verdict, (bound === 'at most' ? measured <= budget : measured >= budget) ? 'met' : 'missed', what)
    t.ok(text.includes(what), 'is in the table')
  }
})

t.test('an option that is none is refused before anything is measured', { skip }, async t => {
  const finished = await runProgram(process.execPath, [main, '--only', 'everything'])
  t.not(finished.exit, 0)
  t.match(finished.stderr, /--only must be one of whole-process, daemon, pairs, main-plugin, many-nodes/)
  t.equal(finished.stdout, '')
})

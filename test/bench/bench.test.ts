/**
 * That the benchmarks run and say what they found. How fast anything was is not looked at: other tests run beside this
 * one, on whatever machine there is.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hasWhereabouts } from '../../bench/whereabouts.ts'
import type { Results } from '../../bench/results.ts'
import { missing } from '../rigs/requirements.ts'
import { mustRun, runProgram } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const root = join(import.meta.dirname, '..', '..')
const main = join(root, 'bench', 'main.ts')
const skip = missing('executables')
const folder = tempFolder(t)

t.test('a quick run prints every table and writes the figures', { skip, timeout: 400_000 }, async t => {
  await mustRun(process.execPath, [join(root, 'scripts', 'build-executables.ts'), '--trivial'])
  const output = folder.file('results.json')
  const text = await mustRun(process.execPath, [main, '--quick', '--output', output], { timeoutMs: 390_000 })

  for (const title of ['Whole process', 'Daemon over its socket', 'Durable pairs', 'Budgets']) {
    t.match(text, new RegExp(`^${title}`, 'm'), title)
  }
  const { wholeProcess, daemon, pairs, mainPlugin, manyNodes, budgets, machine, quick } = JSON.parse(
    readFileSync(output, 'utf8'),
  ) as Results
  t.equal(quick, true)
  t.match(machine, { cpu: String, cores: Number, kernel: String, node: process.version, storage: String })

  const programs = wholeProcess?.map(line => `${line.program} ${line.verb ?? ''}`.trim()) ?? []
  const expected = ['/bin/true', 'trivial', 'ipkeeper ADD', 'ipkeeper DEL']
  const reference = missing('reference-plugins') === false ? ['host-local ADD', 'host-local DEL'] : []
  t.same(programs, [...expected, ...reference])
  for (const line of wholeProcess ?? []) {
    t.ok(line.p50 > 0 && line.p50 <= line.p95 && line.p95 <= line.p99 && line.p99 <= line.max, line.program)
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
      'ADD',
      'ADD beside a machine',
      'DEL',
      ...(sandboxes ? ['RunPodSandbox', 'StopPodSandbox'] : []),
    ]
    t.same([...new Set(mainPlugin?.lines.map(({ what }) => what))].sort(), verbs.sort())
    for (const { what, ipkeeper, reference, toReference, toEmpty } of mainPlugin?.lines ?? []) {
      t.ok(ipkeeper.p50 > 0 && reference.p50 > 0 && toReference > 0, what)
      const isCompared = what === 'ADD' || what === 'DEL'
      t.equal(toEmpty !== null, isCompared, `${what} / that of a node without pods`)
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

  t.equal(budgets.length, 6 + (wired ? 3 : 0) + (sandboxes ? 1 : 0) + (many ? 4 : 0) + (rival ? 2 : 0))
  for (const { what, bound, budget, measured, verdict } of budgets) {
    t.equal(
      verdict,
      (bound === 'at most' ? measured <= budget : measured >= budget) ? 'within' : 'over',
      what,
    )
    t.ok(text.includes(what), 'is in the table')
  }
})

t.test('an option that is none is refused before anything is measured', { skip }, async t => {
  const finished = await runProgram(process.execPath, [main, '--only', 'everything'])
  t.not(finished.exit, 0)
  t.match(finished.stderr, /--only must be one of whole-process, daemon, pairs, main-plugin, many-nodes/)
  t.equal(finished.stdout, '')
})

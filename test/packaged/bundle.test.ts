/** ipkeeperctl bundle, packaged: with the real daemon, with one that hangs, interrupted, and without any. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Manifest } from '../../ipkeeper-server/cli/bundle/manifest.ts'
import { startDaemon } from '../rigs/daemon.ts'
import { until } from '../rigs/poll.ts'
import { distFolder, missing, testedPlugin } from '../rigs/requirements.ts'
import { runPlugin } from '../rigs/run-plugin.ts'
import { mustRun, runProgram, type Finished } from '../rigs/run-program.ts'
import { tempFolder } from '../rigs/temp-folder.ts'

const skip = missing('executables')
const tool = join(distFolder, 'ipkeeperctl')

/** A daemon with a configuration and a network, one pod, and an empty folder for bundles. */
async function makeSite(t: Test) {
  const folder = tempFolder(t)
  const [socket, stateDir, nets, out] = ['s', 'state', 'nets', 'out'].map(name => folder.file(name)) as [
    string,
    string,
    string,
    string,
  ]
  mkdirSync(nets)
  mkdirSync(out)
  const config = folder.file('c.yaml')
  writeFileSync(config, `node: n1\nconflist: { directory: ${nets} }\n`)
  const ipam = { type: 'ipkeeper', socket, stateDir, ranges: [[{ subnet: '10.22.0.0/24' }]] }
  const plugin = { type: 'bridge', apiToken: 'hush1z', ipam }
  writeFileSync(
    join(nets, '10-fixed.conflist'),
    JSON.stringify({ cniVersion: '1.0.0', name: 'fixed', plugins: [plugin] }),
  )
  const daemon = await startDaemon({ socket, stateDir, config })
  t.teardown(() => daemon.stop('SIGKILL'))
  const added = await runPlugin({
    ...{ plugin: testedPlugin, command: 'ADD', containerId: 'c1', path: '/opt/cni/bin' },
    ...{ netns: '/run/netns/none', ifname: 'eth0' },
    args: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0',
    config: { ...plugin, cniVersion: '1.0.0', name: 'fixed' },
  })
  if (added.exit !== 0) throw new Error(added.stdout)
  const args = (...words: readonly string[]): readonly string[] => [
    'bundle',
    ...words,
    ...['--socket', socket, '--state-dir', stateDir],
  ]
  const bundle = (...words: readonly string[]): Promise<Finished> =>
    runProgram(tool, args(...words), { cwd: out, env: { PATH: process.env['PATH'] ?? '' } })
  /** Unpacks a bundle and gives what reads its files. */
  const unpack = async (name: string) => {
    const root = tempFolder(t)
    await mustRun('tar', ['-xzf', join(out, name), '-C', root.path])
    const [top = ''] = readdirSync(root.path)
    const read = (file: string): string => readFileSync(root.file(top, file), 'utf8')
    const { parts } = JSON.parse(read('MANIFEST.json')) as Manifest
    const missing = parts.flatMap(part => (part.missing === null ? [] : [part.part]))
    return { top, read, parts, missing }
  }
  return { daemon, out, nets, stateDir, args, bundle, unpack }
}

t.test('with a daemon', { skip, buffered: true }, async t => {
  const { daemon, out, nets, bundle, unpack } = await makeSite(t)
  const { exit, stdout, stderr } = await bundle()
  t.equal(exit, 0, stderr)
  const [name = ''] = readdirSync(out)
  t.match(name, /^ipkeeper-bundle-n1-\d{8}T\d{6}Z\.tar\.gz$/)
  t.ok(stdout.startsWith(`${name}: `) && stdout.split('\n').length === 2, stdout)
  t.equal(statSync(join(out, name)).mode & 0o777, 0o600)
  t.match(await mustRun('tar', ['-tvzf', join(out, name)]), /^-rw------- 0\/0 .*\/audit\.json$/m)
  const { top, read, missing } = await unpack(name)
  t.equal(`${top}.tar.gz`, name)
  t.ok(
    missing.every(part => part === 'log'),
    `missing: ${missing.join(', ')}`,
  )
  t.match(stderr, /^doctor +2 files, /m)
  t.match(JSON.parse(read('status.json')), { node: 'n1', pid: daemon.pid })
  t.match(read('status.txt'), /^ipkeeper-server .* on node n1, /)
  t.match(JSON.parse(read('doctor.json')), { checks: [{ id: 'user' }], pod: null })
  t.match(JSON.parse(read('flights.json')), { flights: [{ verb: 'ADD', pod: 'shop/web-0', exit: 0 }] })
  t.match(JSON.parse(read('pools.json')), { pools: [{ name: 'fixed' }] })
  t.match(JSON.parse(read('nodes.json')), { nodes: [{ name: 'n1', here: true }] })
  t.match(JSON.parse(read('audit.json')), { node: 'n1', attachments: 1 })
  t.match(read('MANIFEST.txt'), `curl --unix-socket ${daemon.socket} http://ipkeeper/metrics\n`, 'as typed')
  t.match(read('metrics.txt'), /^# TYPE ipkeeper_/m)
  t.match(read('lint.json'), join(nets, '10-fixed.conflist'))
  t.match(read('config.yaml'), `node: n1\nconflist:\n  directory: ${nets}\n`, 'by the status of the daemon')
  t.match(read('conflists/10-fixed.conflist'), '"apiToken":"(removed)"')

  const json = await bundle('b.tar.gz', '-o', 'json')
  t.match(JSON.parse(json.stdout), {
    file: 'b.tar.gz',
    bytes: statSync(join(out, 'b.tar.gz')).size,
    node: 'n1',
  })
  const before = readFileSync(join(out, 'b.tar.gz'))
  t.match(await bundle('b.tar.gz'), { exit: 1, stdout: '', stderr: /b\.tar\.gz exists already/ })
  t.ok(readFileSync(join(out, 'b.tar.gz')).equals(before), 'it is not overwritten')
})

t.test('with a daemon that hangs, and Ctrl-C', { skip, buffered: true }, async t => {
  const { daemon, out, nets, args, bundle, unpack } = await makeSite(t)
  daemon.kill('SIGSTOP')
  const child = spawn(tool, args('cut.tar.gz'), { cwd: out, stdio: ['ignore', 'pipe', 'pipe'], env: {} })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await until('it has begun', () => said.includes('versions'))
  child.kill('SIGINT')
  const [exit] = (await once(child, 'close')) as [number | null]
  t.equal(exit, 1)
  t.match(said, /interrupted: no bundle was written \[IPK_INTERRUPTED\]/)
  t.strictSame(readdirSync(out), [])
  const { exit: done, stdout, stderr, ms } = await bundle('b.tar.gz', '--conf-dir', nets)
  t.equal(done, 0, stderr)
  t.match(stdout, /missing: .*status, pools, nodes, metrics, audit \(the daemon did not answer within 3 s\)/)
  const { read, missing } = await unpack('b.tar.gz')
  t.strictSame(missing.filter(part => part !== 'log').sort(), [
    'audit',
    'metrics',
    'nodes',
    'pools',
    'status',
  ])
  t.match(read('doctor.txt'), /^FAIL /m)
  t.match(JSON.parse(read('flights.json')), { flights: [{ verb: 'ADD' }] })
  t.ok(ms < 120_000, `after ${ms} ms`)
})

t.test('without a daemon', { skip, buffered: true }, async t => {
  const { daemon, out, nets, bundle, unpack } = await makeSite(t)
  await daemon.stop()
  const { exit, stdout, stderr } = await bundle('b.tar.gz', '--conf-dir', nets)
  t.equal(exit, 0, stderr)
  t.match(
    stdout,
    /^b\.tar\.gz: .*; missing: .*status, pools, nodes, metrics, audit \(cannot reach the daemon at /,
  )
  t.strictSame(readdirSync(out), ['b.tar.gz'])
  const { read, parts, missing } = await unpack('b.tar.gz')
  t.strictSame(missing.filter(part => part !== 'log').sort(), [
    'audit',
    'metrics',
    'nodes',
    'pools',
    'status',
  ])
  t.match(
    parts.find(({ part }) => part === 'status'),
    { file: null, bytes: null, missing: /no such socket \[IPK_DAEMON_UNREACHABLE\]/ },
  )
  t.match(read('MANIFEST.txt'), /^status +state of the daemon +cannot reach the daemon at /m)
  t.match(read('last-good-config.yaml'), /^node: n1\n/)
  t.match(read('conflists/10-fixed.conflist'), '"name":"fixed"')
  t.match(JSON.parse(read('flights.json')), { flights: [{ verb: 'ADD' }] })
  t.match(JSON.parse(read('versions.json')), { daemon: null, kernel: { architecture: process.arch } })
})

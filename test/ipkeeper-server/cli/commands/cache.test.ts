import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { Terminal } from '../../../../ipkeeper-server/cli/framework/terminal.ts'
import { readNetworks } from '../../../../ipkeeper-server/conf-dir/read-conf-dir.ts'
import { cacheRoutes } from '../../../../ipkeeper-server/http/routes/cache.ts'
import { leasesForCache } from '../../../../ipkeeper-server/leases/queries/cache-records.ts'
import { CacheKeeper } from '../../../../ipkeeper-server/result-cache/cache-keeper.ts'
import { Quarantine } from '../../../../ipkeeper-server/result-cache/quarantine.ts'
import { runTool } from '../../../rigs/run-tool.ts'
import { serveLeases } from '../../../rigs/served-leases.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'
import { TestService } from '../../leases/test-service.ts'

const conflist = (name: string, type: string) =>
  JSON.stringify({ cniVersion: '1.0.0', name, plugins: [{ type: 'bridge', ipam: { type } }] })

const files = {
  'net-c1-eth0': '',
  'net-c9-eth0': '{"kind":',
  'their-c1-eth0': 'no JSON',
  'their-c2-eth0': '{"cniVersion":"1.0.0"}',
}

/** A folder of results, old enough to be judged, and the tool; with a daemon that is told only to report. */
async function cacheCommand(t: Test, withDaemon = false, content: Readonly<Record<string, string>> = files) {
  const dir = t.testdir({
    results: content,
    'net.d': { '10.conflist': conflist('net', 'ipkeeper'), '20.conflist': conflist('their', 'host-local') },
    state: {},
  })
  const results = join(dir, 'results')
  const stateDir = join(dir, 'state')
  let socket = '/nowhere.sock'
  if (withDaemon) {
    const story = await TestService.open()
    await story.add({ pod: 'web-0', container: 'c1' })
    const caches = new CacheKeeper({
      terms: { mode: 'report', others: 'report', interval: 60_000, orphanAge: 300_000 },
      ...{ folders: [{ kind: 'results', path: results }], stateDir },
      networks: () => readNetworks(join(dir, 'net.d')),
      ...{ boot: { id: 'b', at: 0 }, records: leasesForCache(story.service) },
      quarantine: new Quarantine({ stateDir, bootId: 'b', now: Date.now }),
      ...{ sandboxes: () => Promise.resolve([]), macOf: () => Promise.resolve(undefined) },
      ...{ now: Date.now, monotonic: () => performance.now() },
      ...{ onFound: () => undefined, onRepaired: () => undefined, onMore: () => undefined },
      onError: error => {
        throw error
      },
    })
    const addRoutes = (node: FastifyInstance): void => {
      cacheRoutes(node, { caches })
    }
    const parts = { nodeRoutes: [addRoutes] }
    socket = (await serveLeases(t, { story, facts: { stateDir }, parts })).socket
  }
  const run = async (argv: readonly string[], extra: Partial<Terminal> = {}) => {
    const { exit, out, err } = await runTool(['cache', ...argv, '--socket', socket], extra)
    return { exit, out: out.replaceAll(dir, 'DIR'), err: err.replaceAll(dir, 'DIR') }
  }
  const there = ['--state-dir', stateDir, '--net-dir', join(dir, 'net.d')]
  const json = async (...argv: readonly string[]) => {
    const done = await run([...argv, '-o', 'json'])
    return { ...done, data: JSON.parse(done.out || '{}') as Record<string, Record<string, unknown>[]> }
  }
  return { results, stateDir, run, json, there, file: (name: string) => join(results, name) }
}

/** Waits out the 5 s of rest once, for all tests of this file. */
const scan = (s: Awaited<ReturnType<typeof cacheCommand>>) =>
  s.json('scan', '--dir', s.results, ...s.there.slice(2))

const pick = (rows: Record<string, unknown>[] | undefined, ...keys: readonly string[]) =>
  rows?.map(row => [String(row['path']).replace(/.*\//, ''), ...keys.map(key => row[key])])

t.jobs = 8

t.test('scan without a daemon: one object for each bad file, exit 1', async t => {
  const s = await cacheCommand(t)
  const { exit, err, data } = await scan(s)
  t.equal(exit, 1)
  t.match(err, /^note: no daemon answers.*\nnote: files that just changed are checked again in 5 s\n$/)
  t.strictSame(pick(data['files'], 'reason', 'own', 'plan'), [
    ['net-c1-eth0', 'zero-byte', true, 'quarantine'],
    ['net-c9-eth0', 'truncated', true, 'quarantine'],
    ['their-c1-eth0', 'non-json', false, 'report'],
  ])
})

t.test('scan of a folder without bad files, and of a stale one', async t => {
  const s = await cacheCommand(t, false, {
    'net-c1-eth0': '{"cniVersion":"1.0.0"}',
    [`net-${'ab'.repeat(32)}-e`]: '{"ip4":{}}',
  })
  t.match(await s.run(['scan', '--dir', s.results]), { exit: 0, out: 'no bad files\n' })
  utimesSync(s.file(`net-${'ab'.repeat(32)}-e`), 1, 1)
  const { exit, data } = await scan(s)
  t.equal(exit, 1)
  t.match(data['files'], [{ reason: 'stale-boot', plan: 'report' }])
})

t.test(
  'repair without a daemon moves our own aside; a dry run shows the same plan and touches nothing',
  async t => {
    const s = await cacheCommand(t)
    const dry = await s.run(['repair', '--dry-run', '--dir', s.results, ...s.there])
    t.equal(dry.exit, 1)
    t.strictSame(readdirSync(s.results).sort(), Object.keys(files).sort())
    t.notOk(existsSync(join(s.stateDir, 'quarantine')))
    const done = await s.run(['repair', '--dir', s.results, ...s.there])
    t.equal(done.exit, 1, 'one that is only reported is left')
    const plan = (text: string) =>
      text.split('\n').filter(line => /^(zero-byte|truncated|non-json)/.test(line))
    const shape = (text: string) => plan(text).map(line => line.split(/ {2,}/).slice(0, 2).join(' '))
    t.strictSame(shape(done.out), shape(dry.out))
    t.strictSame(shape(dry.out), ['zero-byte quarantine', 'truncated quarantine', 'non-json report'])
    t.strictSame(readdirSync(s.results).sort(), ['their-c1-eth0', 'their-c2-eth0'])
  },
)

t.test('--others, quarantine, restore', async t => {
  const s = await cacheCommand(t)
  const { exit, data } = await s.json('repair', '--others', '--dir', s.results, ...s.there)
  t.equal(exit, 0)
  t.strictSame(pick(data['files'], 'result'), [
    ['net-c1-eth0', 'quarantined'],
    ['net-c9-eth0', 'quarantined'],
    ['their-c1-eth0', 'quarantined'],
  ])
  const state = s.there.slice(0, 2)
  const listed = await s.json('quarantine', ...state)
  t.same(pick(listed.data['quarantined'], 'reason')?.sort(), [
    ['net-c1-eth0', 'zero-byte'],
    ['net-c9-eth0', 'truncated'],
    ['their-c1-eth0', 'non-json'],
  ])
  t.same((await s.json('restore', ...state)).data, listed.data, 'restore without a name lists, too')

  const note = (path: string) =>
    String(data['files']?.find(row => String(row['path']).endsWith(path))?.['note'])
  const dry = await s.run(['restore', note('net-c9-eth0'), '--dry-run', ...state])
  t.match(dry, { exit: 0, out: /planned/ })
  t.notOk(existsSync(s.file('net-c9-eth0')))
  t.match(await s.run(['restore', note('net-c9-eth0'), ...state]), { exit: 0, out: /restored/ })
  t.equal(readFileSync(s.file('net-c9-eth0'), 'utf8'), '{"kind":')
  writeFileSync(s.file('their-c1-eth0'), 'newer')
  t.match(await s.run(['restore', s.file('their-c1-eth0'), ...state]), {
    exit: 1,
    out: /failed.*exists again/,
  })
  t.equal(readFileSync(s.file('their-c1-eth0'), 'utf8'), 'newer')
  t.match(await s.run(['restore', 'nobody', ...state]), {
    exit: 2,
    err: /no file in quarantine has the name or former path nobody/,
  })
})

t.test('what is no cache stays where it is, even when it is named', async t => {
  const s = await cacheCommand(t)
  const folder = tempFolder(t)
  const other = dirname(folder.file('x'))
  for (const name of ['hosts.conf', 'passwd-', 'their-c1-eth0']) {
    writeFileSync(folder.file(name), name === 'passwd-' ? '' : 'no JSON')
    utimesSync(folder.file(name), 1e9, 1e9)
  }
  const named = await s.json('repair', join(other, 'hosts.conf'), join(other, 'passwd-'), ...s.there)
  t.equal(named.exit, 1)
  t.strictSame(pick(named.data['files'], 'plan', 'result'), [
    ['hosts.conf', 'report', 'left'],
    ['passwd-', 'report', 'left'],
  ])
  const all = await s.json('repair', '--others', '--dir', other, ...s.there)
  t.strictSame(pick(all.data['files'], 'result'), [
    ['hosts.conf', 'left'],
    ['passwd-', 'left'],
    ['their-c1-eth0', 'quarantined'],
  ])
  t.strictSame(readdirSync(other).sort(), ['hosts.conf', 'passwd-'])
})

t.test('with the daemon files of known attachments are written anew', async t => {
  const s = await cacheCommand(t, true)
  const { exit, err, data } = await s.json('repair', s.file('net-c1-eth0'), ...s.there)
  t.equal(exit, 0)
  t.notMatch(err, /no daemon/)
  t.strictSame(pick(data['files'], 'plan', 'result'), [['net-c1-eth0', 'rewrite', 'rewritten']])
  t.match(JSON.parse(readFileSync(s.file('net-c1-eth0'), 'utf8')), { containerId: 'c1', networkName: 'net' })
  t.equal(readFileSync(s.file('net-c9-eth0'), 'utf8'), '{"kind":', 'no other file than the named one')
  const rest = await s.json('scan', ...s.there.slice(2))
  t.strictSame(
    pick(rest.data['files'], 'plan'),
    [
      ['net-c9-eth0', 'quarantine'],
      ['their-c1-eth0', 'report'],
    ],
    "the daemon's folders, where none is named",
  )
})

t.test('an interruption lets the file at hand be finished, and begins no other', async t => {
  const s = await cacheCommand(t)
  const interruption = new AbortController()
  let progress = 0
  const { exit, out } = await s.run(['repair', '--dir', s.results, ...s.there], {
    interruption: () => interruption.signal,
    progress: text => {
      if (/of 3 files/.test(text) && ++progress === 1) interruption.abort()
    },
  })
  t.equal(exit, 1)
  t.match(out, /quarantined .*net-c1-eth0[^]*left .*net-c9-eth0 +interrupted/)
  t.ok(existsSync(s.file('net-c9-eth0')))
  t.notOk(existsSync(s.file('net-c1-eth0')))
})

t.test('a name of control characters does not reach the terminal', async t => {
  const s = await cacheCommand(t, false, { 'net-\u001b[2J\n-eth0': '' })
  const { out } = await s.run(['scan', '--dir', s.results])
  t.match(out, /net-\?\[2J\?-eth0/)
  t.notMatch(out, /\u001b/)
  t.match((await scan(s)).data['files'], [{ path: 'DIR/results/net-\u001b[2J\n-eth0' }])
})

t.test('called wrongly, and folders that cannot be read', async t => {
  const s = await cacheCommand(t, false, {})
  const cases: readonly (readonly [argv: readonly string[], exit: number, text: RegExp])[] = [
    [[], 2, /"cache" needs a subcommand: scan, repair, quarantine, restore/],
    [['skan'], 2, /unknown command "cache skan"; did you mean cache scan\?/],
    [['mend'], 2, /unknown command "cache mend" \[IPK_USAGE\]\nhint: see: ipkeeperctl cache --help/],
    [['scan', 'x'], 2, /takes no arguments; got x[^]*see: ipkeeperctl cache scan --help/],
    [['scan', '--dir', '/nowhere'], 1, /\/nowhere cannot be read \(ENOENT\) \[IPK_CACHE_UNREADABLE\]/],
    [['scan', '--dir', '/etc/passwd'], 1, /it is not a folder/],
    [['repair', 'x', '--dir', '/tmp'], 2, /either FILE or --dir DIR/],
    [['quarantine', 'x'], 2, /takes no arguments/],
  ]
  for (const [argv, exit, text] of cases) {
    const done = await s.run(argv)
    t.equal(done.exit, exit, argv.join(' '))
    t.match(done.err, text)
  }
})

t.test('help of the group and of its commands', async t => {
  const s = await cacheCommand(t, false, {})
  for (const argv of [['--help'], ['scan', '--help'], ['repair', '--help'], ['restore', '--help']])
    t.match(await s.run(argv), { exit: 0, out: /Examples?:\s+ipkeeperctl cache / })
  t.match(await runTool(['help', 'cache', 'repair']), {
    exit: 0,
    out: /--dry-run +only show what would be done/,
  })
})

t.test('as a process, black box', async t => {
  const s = await cacheCommand(t)
  const main = join(import.meta.dirname, '../../../../ipkeeper-server/main.ts')
  const done = spawnSync(
    process.execPath,
    [main, 'ctl', 'cache', 'scan', '--dir', s.results, '--socket', '/nowhere.sock', '-o', 'json'],
    { encoding: 'utf8', env: {} },
  )
  t.equal(done.status, 1, done.stderr)
  const { files: bad } = JSON.parse(done.stdout) as { files: Record<string, unknown>[] }
  t.strictSame(pick(bad, 'reason'), [
    ['net-c1-eth0', 'zero-byte'],
    ['net-c9-eth0', 'truncated'],
    ['their-c1-eth0', 'non-json'],
  ])
})
